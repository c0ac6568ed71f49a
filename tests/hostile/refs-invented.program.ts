// expect: returned
// value: "unknown_ref"
const result = await robot.get_point_from_pixel({ depth_ref: 'depth_1_aaaa', u: 1, v: 1 });
return result.status;
