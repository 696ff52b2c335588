export const clientMetadataDocument = (_: string): Record<string, unknown> => ({});
