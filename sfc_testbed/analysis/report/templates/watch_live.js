// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// Feeds the page of an active run from its server (testbed/watch). The stream has a scene, chunks and an end for each run, one run
// after the other. The page keeps the latest two runs.
"use strict";
(() => {
  const {runs} = sfcWatch, events = new EventSource("stream"), state = document.createElement("p");
  const heading = document.querySelector("h1"), latest = () => runs.length - 1;
  const on = (kind, act) => events.addEventListener(kind, event => act(JSON.parse(event.data)));
  const note = text => document.getElementById("notes").append(Object.assign(document.createElement("li"), {textContent: text}));
  let hasEnded = false;
  state.className = "live";
  state.setAttribute("role", "status");
  heading.after(state);
  state.textContent = "Waiting for the network to start.";

  on("scene", scene => {
    while (runs.length > 1) sfcWatch.drop();
    sfcWatch.begin(scene);
    heading.textContent = document.title = scene.title;
    state.textContent = "Waiting for the network to start.";
    hasEnded = false;
  });
  on("chunk", chunk => {
    sfcWatch.append(chunk, latest());
    const {dilation} = runs.at(-1).scene, waits_ms = (chunk.until_us - sfcWatch.time) * dilation / 1000;
    state.textContent = chunk.behind_ms === undefined ? "Simulation in virtual time is going on."
      : `Live, ${dilation.toLocaleString("en")} times slower than the model. The newest measurements were ${chunk.behind_ms} ms old when they were sent.`;
    state.dataset.waits = waits_ms.toFixed(0);
  });
  on("gap", () => note("Some earlier measurements are missing here, because the server keeps only the latest 64 MB."));
  on("end", ({sentence}) => {
    sfcWatch.finish(latest(), sentence);
    state.textContent = `The run has ended. ${sentence}`;
    hasEnded = true;
  });
  events.onerror = () => {
    if (hasEnded) events.close();
    else if (events.readyState === EventSource.CLOSED) state.textContent = "The connection has ended, and this page cannot get more.";
    else state.textContent = "The connection was lost; trying again.";
  };
})();
