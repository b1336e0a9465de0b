// Triangles and lines in space, drawn by WebGL 2: each mesh is handed over once, a picture says where it stands.
const TURNED = `
vec3 turned(vec4 q, vec3 v) { vec3 c = 2.0 * cross(q.yzw, v); return v + q.x * c + cross(q.yzw, c); }`;

const SOLIDS = [`#version 300 es
uniform mat4 sight; uniform vec4 turn; uniform vec3 place;
in vec3 corner; in vec3 normal;
out vec3 facing;${TURNED}
void main() { facing = turned(turn, normal); gl_Position = sight * vec4(turned(turn, corner) + place, 1.0); }`,
`#version 300 es
precision mediump float;
uniform vec4 colour; uniform vec3 light; uniform vec2 shine;
in vec3 facing; out vec4 shown;
void main() {
  vec3 n = normalize(facing);
  shown = vec4(min(colour.rgb * (shine.x + shine.y * (0.5 + 0.5 * dot(n, light))), 1.0) * colour.a, colour.a);
}`];

// A line is a strip of so many dots: four corners, each at one end and on one side.
const LINES = [`#version 300 es
uniform mat4 sight; uniform vec4 turn; uniform vec3 place; uniform vec2 dots; uniform float width; uniform float lift; uniform float stretch;
in vec3 corner; in vec3 other; in float side;${TURNED}
void main() {
  vec4 here = sight * vec4(turned(turn, stretch * corner) + place, 1.0), there = sight * vec4(turned(turn, stretch * other) + place, 1.0);
  vec2 along = (there.xy / there.w - here.xy / here.w) * dots;
  vec2 across = length(along) > 0.0 ? normalize(vec2(-along.y, along.x)) : vec2(0.0);
  gl_Position = here + vec4(across * side * width / dots * here.w, -lift, 0.0);
}`,
`#version 300 es
precision mediump float;
uniform vec4 colour; out vec4 shown;
void main() { shown = vec4(colour.rgb * colour.a, colour.a); }`];

class Canvas {
  constructor(element) {
    this.element = element;
    this.meshes = new Map();
    element.addEventListener("webglcontextlost", (event) => { event.preventDefault(); this.gl = null; });
    element.addEventListener("webglcontextrestored", () => { this.begin(); element.dispatchEvent(new Event("restored")); });
    this.begin();
  }

  begin() {
    const gl = (this.gl = this.element.getContext("webgl2", { antialias: true, alpha: true, premultipliedAlpha: true }));
    if (!gl) return;
    this.meshes.clear();
    this.solids = this.program(SOLIDS, ["corner", "normal"]);
    this.lines = this.program(LINES, ["corner", "other", "side"]);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1, 1);
  }

  program([vertices, fragments], inputs) {
    const gl = this.gl, program = gl.createProgram();
    [[gl.VERTEX_SHADER, vertices], [gl.FRAGMENT_SHADER, fragments]].forEach(([kind, text]) => {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    });
    inputs.forEach((name, k) => gl.bindAttribLocation(program, k, name));
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) throw new Error(gl.getProgramInfoLog(program));
    const found = { program };
    for (let k = 0; k < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); k++) {
      const { name } = gl.getActiveUniform(program, k);
      found[name] = gl.getUniformLocation(program, name);
    }
    return found;
  }

  // Numbers of corners, each with inputs of these sizes.
  buffer(numbers, sizes) {
    const gl = this.gl, array = gl.createVertexArray(), all = sizes.reduce((sum, size) => sum + size, 0);
    gl.bindVertexArray(array);
    const kept = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, kept);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers), gl.STATIC_DRAW);
    let first = 0;
    sizes.forEach((size, k) => {
      gl.enableVertexAttribArray(k);
      gl.vertexAttribPointer(k, size, gl.FLOAT, false, 4 * all, 4 * first);
      first += size;
    });
    return { array, numbers: kept, count: numbers.length / all };
  }

  // A mesh as the graphics card has it: flat triangles with their normals, and its sharp edges.
  known(mesh) {
    if (!this.meshes.has(mesh)) {
      this.meshes.set(mesh, {
        triangles: this.buffer((mesh.triangles || []).flatMap((three) => {
          const [a, b, c] = three.map((k) => mesh.corners[k]), n = normalTo(a, b, c);
          return [...a, ...n, ...b, ...n, ...c, ...n];
        }), [3, 3]),
        edges: this.buffer(mesh.edges.flatMap(([i, j]) => {
          const a = mesh.corners[i], b = mesh.corners[j], at = (one, two, side) => [...one, ...two, side];
          const [p, q, r, s] = [at(a, b, 1), at(a, b, -1), at(b, a, -1), at(b, a, 1)];
          return [...p, ...q, ...r, ...q, ...s, ...r];
        }), [3, 3, 1]),
      });
    }
    return this.meshes.get(mesh);
  }

  forget(meshes) {
    for (const mesh of meshes) {
      const made = this.meshes.get(mesh);
      if (!made || !this.gl) continue;
      for (const { array, numbers } of Object.values(made)) { this.gl.deleteVertexArray(array); this.gl.deleteBuffer(numbers); }
      this.meshes.delete(mesh);
    }
  }

  // A picture: sight, a matrix column by column; lift, of lines over what they lie on; light, towards it; shine, of what lies in the dark, and how much more in the light.
  draw(things, { sight, lift }, light, shine) {
    const gl = this.gl;
    if (!gl || gl.isContextLost()) return;
    gl.viewport(0, 0, this.element.width, this.element.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const use = (one) => { gl.useProgram(one.program); gl.uniformMatrix4fv(one.sight, false, sight); };
    use(this.solids);
    gl.uniform3fv(this.solids.light, light);
    gl.uniform2fv(this.solids.shine, shine);
    const filled = things.filter((thing) => thing.colour);
    for (const thing of filled.filter(({ colour }) => colour[3] === 1)) this.piece(this.solids, thing, thing.colour, this.known(thing.mesh).triangles);
    gl.depthMask(false); // what one sees through hides nothing
    for (const thing of filled.filter(({ colour }) => colour[3] < 1)) this.piece(this.solids, thing, thing.colour, this.known(thing.mesh).triangles);
    gl.depthMask(true);
    use(this.lines);
    gl.uniform1f(this.lines.lift, lift);
    gl.uniform2f(this.lines.dots, 0.5 * this.element.width, 0.5 * this.element.height);
    for (const thing of things) {
      if (!thing.line) continue;
      gl.uniform1f(this.lines.width, 0.5 * thing.width * (window.devicePixelRatio || 1));
      gl.uniform1f(this.lines.stretch, thing.stretch === undefined ? 1 : thing.stretch);
      this.piece(this.lines, thing, thing.line, this.known(thing.mesh).edges);
    }
  }

  piece(program, { r, q }, colour, { array, count }) {
    const gl = this.gl;
    gl.uniform3fv(program.place, r);
    gl.uniform4fv(program.turn, q);
    gl.uniform4fv(program.colour, colour);
    gl.bindVertexArray(array);
    gl.drawArrays(gl.TRIANGLES, 0, count);
  }
}

function normalTo(a, b, c) {
  const u = a.map((x, i) => b[i] - x), v = a.map((x, i) => c[i] - x);
  const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]], size = Math.hypot(...n) || 1;
  return n.map((x) => x / size);
}

// Any colour that a style sheet knows, as shares of red, green, blue and what covers.
const known = new Map(), brush = document.createElement("canvas").getContext("2d");
function colour(name, covers = 1) {
  if (!known.has(name)) {
    brush.fillStyle = "#b4b9c0";
    brush.fillStyle = name;
    known.set(name, [1, 3, 5].map((k) => parseInt(brush.fillStyle.slice(k, k + 2), 16) / 255));
  }
  return [...known.get(name), covers];
}
