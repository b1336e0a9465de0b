// Begin.
const page = document.getElementById("page");
try {
  const data = JSON.parse(document.getElementById("data").textContent);
  if (data.kind === "run") layRun(data, page); else if (data.kind === "system") new LiveSystem(data).lay(page); else new Study(data).lay(page);
  if (data.live) stay();
} catch (error) {
  page.replaceChildren(make("p", { class: "wait bad", role: "alert" }, `This page could not be shown: ${error.message}`));
  throw error;
}
