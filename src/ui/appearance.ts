import { createContext } from "react";
import { resolveTheme, type Theme } from "./theme.ts";

/** How things look on this terminal. */
export interface Look {
  theme: Theme;
  ascii: boolean;
  /** No animation. */
  still: boolean;
}

export const Appearance = createContext<Look>({
  theme: resolveTheme({}, {}).theme,
  ascii: false,
  still: false,
});
