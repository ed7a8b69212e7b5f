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
  let hasEnded = false, busyUntil = 0, isThinned = false;
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
    busyUntil = 0;
    isThinned = false;
  });
  on("chunk", chunk => {
    sfcWatch.append(chunk, latest());
    if (chunk.is_thinned && !isThinned) note("There are too many BTS and ACKs to show all of them, so pauses are incomplete here.");
    isThinned ||= chunk.is_thinned;
    const {dilation} = runs.at(-1).scene, waits_ms = (chunk.until_us - sfcWatch.time) * dilation / 1000;
    if (["queues", "links", "signals", "flows"].some(part => chunk[part])) busyUntil = chunk.until_us;
    state.textContent = chunk.behind_ms === undefined ? "A simulation in virtual time is running."
      : `Live, ${dilation.toLocaleString("en")} times slower than the model, ${Math.round((chunk.behind_ms + waits_ms) / 10) * 10} ms behind.`;
  });
  on("gap", () => note("Some earlier measurements are missing here, because the server keeps only the latest 64 MB."));
  on("end", ({sentence, notes}) => {
    sfcWatch.finish(latest(), busyUntil, notes);
    state.textContent = `The run has ended. ${sentence}`;
    hasEnded = true;
  });
  events.onerror = () => {
    if (hasEnded) events.close();
    else if (events.readyState === EventSource.CLOSED) state.textContent = "The connection has ended, and this page cannot get more.";
    else state.textContent = "The connection was lost; trying again.";
  };
})();
