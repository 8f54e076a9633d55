export * from "../../files/raw-json.ts";
