// expect: call_quota
for (let i = 0; i < 1_000_000; i++) {
  const tag = i.toString(36).padStart(4, '0');
  const result = await robot.get_point_from_pixel({ depth_ref: `depth_1_${tag}`, u: 1, v: 1 });
  if (result.status !== 'unknown_ref') return tag;
}
