// Before the first paint: the colours that the reader has chosen. Without a choice, those of the system.
const chosen = localStorage.getItem("theme");
if (chosen) document.documentElement.dataset.theme = chosen;
