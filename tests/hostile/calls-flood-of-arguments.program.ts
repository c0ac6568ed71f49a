// expect: call_quota
// calls: 0
const path = 'x'.repeat(500_000);
for (let i = 0; i < 250; i++) void robot.get_sam_mask_from_box({ observation_ref: path, box: { x0: 0, y0: 0, x1: 9, y1: 9 } });
await sleep(1);
