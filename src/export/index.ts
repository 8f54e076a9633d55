export { EXPORT_FORMATS, type ExportFormat, exportSession, formatOfName, timelineEntries } from "./export.ts";
export { CannotExport, exportToFile } from "./export-file.ts";
