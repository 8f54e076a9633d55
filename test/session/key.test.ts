import fc from "fast-check";
import { expect, test } from "vitest";
import { parseKey, sessionKey } from "../../src/session/key.ts";

test("a key names source, root and id; the first root goes without saying", () => {
  expect(sessionKey("codebot", 1, "7f00a1e2")).toBe("codebot:7f00a1e2");
  expect(sessionKey("codebot", 2, "7f00a1e2")).toBe("codebot@2:7f00a1e2");
  expect(parseKey("codebot@2:a:b\nc")).toEqual({ source: "codebot", root: 2, id: "a:b\nc" });
});

test.each(["", "codebot", "codebot:", ":x", "Codebot:x", "codebot@0:x", "codebot@1234567:x", "code bot:x", "9a:x"])(
  "%j is no key",
  (text) => {
    expect(parseKey(text)).toBeNull();
  },
);

test("what is put together comes apart again", () => {
  const source = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/u);
  const id = fc.string({ minLength: 1 });
  fc.assert(
    fc.property(source, fc.integer({ min: 1, max: 99 }), id, (name, root, text) => {
      expect(parseKey(sessionKey(name, root, text))).toEqual({ source: name, root, id: text });
    }),
  );
});
