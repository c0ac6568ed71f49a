// expect: call_quota
// calls: 0
for (;;) await robot.get_point_from_pixel({ depth_ref: 'x', u: NaN, v: 0 });
