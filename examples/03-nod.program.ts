// Lowers the tool by four centimetres and lifts it again, looking at the way before and after.
const before = await robot.get_robot_state({});
if (before.status !== "ok") throw new Error(before.message);
const { tcp_pose } = before;
console.log(`the tool is ${tcp_pose.z.toFixed(3)} m over the world's origin`);

const down = await robot.goto_pose({ pose: { ...tcp_pose, z: tcp_pose.z - 0.04 }, motion: "linear" });
const up = await robot.goto_pose({ pose: tcp_pose, motion: "linear" });
return { down: down.status, up: up.status, seconds: Date.now() / 1000 };
