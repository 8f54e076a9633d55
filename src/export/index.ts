export { EXPORT_FORMATS, type ExportFormat, exportSession, formatOfName, timelineEntries } from "./export.ts";
export { CannotExport, type ExportFileOptions, exportToFile } from "./export-file.ts";
