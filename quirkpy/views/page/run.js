// The page of a run.
function layRun(data, page) {
  const scene = new Scene(data), player = new Player(scene), motion = unpacked(data.motion);
  const events = data.events.map((event) => [make("button", { type: "button", class: "plain", onclick: () => { player.pause(); player.go(event.t); } }, withUnit(event.t, "s")), event.words]);
  page.replaceChildren(
    make("header", {}, make("h1", {}, data.title), make("p", {}, data.words)),
    make("main", { class: "columns" },
      make("section", { class: "box", "aria-label": "In space" }, scene.box, player.bar),
      make("section", { class: "box", id: "panel", "aria-label": "Curves" }, player.below, events.length ? make("h3", {}, "What happened") : null, events.length ? table(["when", "what"], events) : null)));
  player.show(motion, true);
}
