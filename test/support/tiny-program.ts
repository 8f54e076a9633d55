import { render } from "ink";
import { createElement } from "react";
import { TinyApp } from "./tiny-app.ts";

process.stdout.write("before\n");
const app = render(createElement(TinyApp), { alternateScreen: true, incrementalRendering: true, interactive: true });
process.on("SIGTERM", () => {
  app.unmount();
  process.exit(143);
});
await app.waitUntilExit();
process.stdout.write("after\n");
