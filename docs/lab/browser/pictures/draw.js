// Draws a diagram in greys, without a background: the reading room inverts it for dark colours.
mermaid.initialize({
  startOnLoad: false, deterministicIds: true, theme: "base", look: "classic", htmlLabels: false,
  flowchart: { htmlLabels: false, nodeSpacing: 32, rankSpacing: 36, padding: 12 },
  sequence: { actorMargin: 30, messageMargin: 28, mirrorActors: false, boxMargin: 6, noteMargin: 8 },
  themeCSS: ".edgeLabel rect, .edgeLabel .background { opacity: 1; } .node *, .cluster * { filter: none; }",
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
  themeVariables: {
    fontSize: "15px", background: "transparent", textColor: "#222222", lineColor: "#666666",
    primaryColor: "#f1efe9", primaryTextColor: "#222222", primaryBorderColor: "#8a8578",
    secondaryColor: "#e7ebef", tertiaryColor: "#f8f7f3", clusterBkg: "#f8f7f3", clusterBorder: "#c9c4b8",
    edgeLabelBackground: "#fdfcf9", noteBkgColor: "#f3eedd", noteBorderColor: "#c9bd94", noteTextColor: "#222222",
    actorBkg: "#f1efe9", actorBorder: "#8a8578", activationBkgColor: "#dfdcd2", labelBoxBkgColor: "#f1efe9",
  },
});

let drawn = 0;

globalThis.draw = async source => {
  const { svg } = await mermaid.render("diagram-" + ++drawn, source);
  const picture = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const [, , width, height] = picture.getAttribute("viewBox").split(" ").map(Number);
  picture.setAttribute("width", Math.ceil(width));
  picture.setAttribute("height", Math.ceil(height));
  picture.removeAttribute("style");
  return new XMLSerializer().serializeToString(picture);
};
