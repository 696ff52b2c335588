/** On which line of the code the call was made that waits for a person. */
export const callLinesSchema = `
ALTER TABLE interactions ADD COLUMN line INTEGER;
`;
