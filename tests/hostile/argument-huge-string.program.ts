// expect: returned
// value: "budget_exhausted"
// calls: 0
const result = await robot.get_sam_mask_from_box({ observation_ref: 'x'.repeat(1_000_000), box: { x0: 0, y0: 0, x1: 9, y1: 9 } });
return result.status;
