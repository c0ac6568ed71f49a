// expect: memory_quota cpu_quota
// calls: 0
const poses = [];
for (let i = 0; i < 1_000_000; i++) poses.push({ x: 0.3, y: i / 1e6, z: 0.2, qx: 1, qy: 0, qz: 0, qw: 0 });
await robot.follow_path({ poses });
