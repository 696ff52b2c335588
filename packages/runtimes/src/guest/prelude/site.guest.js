// Where a call was made, for an engine whose errors hold their stack as text from the start. A native engine has its own (native-engine.guest.js).
const stackOfSite = (site) => (typeof site.stack === "string" ? site.stack : "");
// The line of the task's script, for people to read; 0 when the stack does not tell.
const lineOfSite = (site) => {
  try {
    const stack = stackOfSite(site);
    const at = indexOfText(stack, "(task.js:") + 9;
    return at < 9 ? 0 : +sliceText(stack, at, indexOfText(stack, ":", at)) || 0;
  } catch {
    return 0;
  }
};
