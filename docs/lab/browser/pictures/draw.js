// Draws a diagram in greys, without a background: the reading room inverts it for dark colours. It is narrow: it has to fit a phone.
mermaid.initialize({
  startOnLoad: false, deterministicIds: true, theme: "base", look: "classic", htmlLabels: false,
  flowchart: {
    htmlLabels: false, nodeSpacing: 14, rankSpacing: 18, padding: 7, wrappingWidth: 260, minNodeWidth: 0, diagramPadding: 4,
    subGraphTitleMargin: { top: 6, bottom: 8 },
  },
  state: { wrappingWidth: 170, minNodeWidth: 0 },
  sequence: {
    width: 60, height: 44, actorMargin: 12, messageMargin: 30, mirrorActors: false, boxMargin: 8, noteMargin: 8,
    diagramMarginX: 4, diagramMarginY: 4,
  },
  themeCSS: `.edgeLabel rect, .edgeLabel .background { opacity: 1; } .node *, .cluster * { filter: none; }
    .halo, .cluster-label text { paint-order: stroke; stroke: #fdfcf9; stroke-width: 10px; stroke-linejoin: round; }
    .halo { fill: #fdfcf9; }`,
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif", fontSize: 14,
  themeVariables: {
    fontSize: "14px", background: "transparent", textColor: "#222222", lineColor: "#666666",
    primaryColor: "#f1efe9", primaryTextColor: "#222222", primaryBorderColor: "#8a8578",
    secondaryColor: "#e7ebef", tertiaryColor: "#f8f7f3", clusterBkg: "#fdfcf9", clusterBorder: "#c9c4b8",
    edgeLabelBackground: "#fdfcf9", noteBkgColor: "#f3eedd", noteBorderColor: "#c9bd94", noteTextColor: "#222222",
    actorBkg: "#f1efe9", actorBorder: "#8a8578", activationBkgColor: "#dfdcd2", labelBoxBkgColor: "#f1efe9",
  },
});

let drawn = 0;

// alignTitle puts the title of a frame to its left, and above the lines: many lines cross the frame in the middle.
function alignTitle(picture, frame) {
  const [title, left] = [frame.querySelector(".cluster-label"), Number(frame.querySelector("rect").getAttribute("x"))];
  title.setAttribute("transform", title.getAttribute("transform").replace(/\(\s*[-.\d]+/, `(${left + 10}`));
  picture.querySelector(".root").append(title);
}

// stopLifelines lets a lifeline stop behind the text of a message.
function stopLifelines(picture) {
  const texts = [...picture.querySelectorAll(".messageText")];
  for (const text of texts) {
    const halo = text.cloneNode(true);
    halo.classList.add("halo");
    texts[0].before(halo); // and so below all texts and arrows
  }
}

globalThis.draw = async source => {
  const { svg } = await mermaid.render("diagram-" + ++drawn, source);
  const picture = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const [, , width, height] = picture.getAttribute("viewBox").split(" ").map(Number);
  picture.setAttribute("width", Math.ceil(width));
  picture.setAttribute("height", Math.ceil(height));
  picture.removeAttribute("style");
  for (const frame of picture.querySelectorAll(".cluster:has(> .cluster-label)")) alignTitle(picture, frame);
  stopLifelines(picture);
  return new XMLSerializer().serializeToString(picture);
};
