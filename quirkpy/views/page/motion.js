// Motions as they are packed in the page: whole numbers between which one goes straight on.
const read = (text, Kind) => {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Kind(bytes.buffer);
};

const TURNS = 32767, NOTHING = 65535;

function unpacked(packed) {
  const t = read(packed.t, Float32Array), q = read(packed.q, Int16Array);
  const r = read(packed.r, packed.wide === 2 ? Int16Array : Int32Array);
  const curves = {};
  for (const [name, [low, step, text]] of Object.entries(packed.curves)) {
    curves[name] = Array.from(read(text, Uint16Array), (whole) => (whole === NOTHING ? null : low + step * whole));
  }
  const [kinetic, potential] = [curves["kinetic [J]"], curves["potential [J]"]];
  if (kinetic && potential) curves["total [J]"] = kinetic.map((value, k) => value + potential[k]);
  return { t, r, q, curves, bodies: q.length / 4 / t.length, step: packed.step, origin: packed.origin, missed: packed.missed };
}

const duration = (motion) => motion.t[motion.t.length - 1];

// The number of the last keyframe at or before a time.
function keyframeAt(motion, time) {
  let low = 0, high = motion.t.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (motion.t[middle] <= time) low = middle; else high = middle - 1;
  }
  return low;
}

// Positions [[x, y, z] ...] and orientations [[w, x, y, z] ...] at a time.
function posesAt(motion, time) {
  const k = Math.max(0, Math.min(keyframeAt(motion, time), motion.t.length - 2)), j = Math.min(k + 1, motion.t.length - 1);
  const h = motion.t[j] - motion.t[k], share = h > 0 ? Math.min(1, Math.max(0, (time - motion.t[k]) / h)) : time > motion.t[k] ? 1 : 0;
  const r = [], q = [];
  for (let b = 0; b < motion.bodies; b++) {
    const one = 3 * (k * motion.bodies + b), two = 3 * (j * motion.bodies + b);
    r.push([0, 1, 2].map((i) => motion.origin[i] + motion.step * ((1 - share) * motion.r[one + i] + share * motion.r[two + i])));
    q.push(turnedBetween(motion.q, 4 * (k * motion.bodies + b), 4 * (j * motion.bodies + b), share));
  }
  return { r, q, pulls: pullsAt(motion, k, j, share) };
}

const TENSION = " tension [N]";

// Tensions of strings between two keyframes, and the largest in the whole motion.
function pullsAt(motion, k, j, share) {
  const values = {}, names = Object.keys(motion.curves).filter((name) => name.endsWith(TENSION));
  if (motion.most === undefined) motion.most = names.reduce((most, name) => motion.curves[name].reduce((a, b) => Math.max(a, b), most), 0);
  for (const name of names) {
    const [one, two] = [motion.curves[name][k], motion.curves[name][j]];
    values[name] = one === null || two === null ? null : (1 - share) * one + share * two;
  }
  return { values, most: motion.most };
}

function turnedBetween(q, one, two, share) {
  let along = 0;
  for (let i = 0; i < 4; i++) along += q[one + i] * q[two + i];
  const near = along < 0 ? -1 : 1;
  return unit([0, 1, 2, 3].map((i) => ((1 - share) * q[one + i] + share * near * q[two + i]) / TURNS));
}

function unit(q) {
  const size = Math.hypot(...q) || 1;
  return q.map((x) => x / size);
}

// Poses swung out along a motion around them: velocities in N, then in body axes, by so much.
function swung(r, q, shape, much) {
  return {
    r: r.map((at, b) => at.map((x, i) => x + much * shape[b][i])),
    q: q.map((turn, b) => {
      const angle = shape[b].slice(3).map((x) => 0.5 * much * x), size = Math.hypot(...angle);
      const s = size > 0 ? Math.sin(size) / size : 1;
      return product(turn, [Math.cos(size), s * angle[0], s * angle[1], s * angle[2]]);
    }),
  };
}

function product(a, b) {
  return [
    a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
  ];
}

function turnedPoint(q, v) {
  const [w, x, y, z] = q;
  const a = 2 * (y * v[2] - z * v[1]), b = 2 * (z * v[0] - x * v[2]), c = 2 * (x * v[1] - y * v[0]);
  return [v[0] + w * a + y * c - z * b, v[1] + w * b + z * a - x * c, v[2] + w * c + x * b - y * a];
}
