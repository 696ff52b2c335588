/** Text of strangers (inputs, titles) on its way before a person or a model: nothing in it may hide or turn around what follows. */

/** Controls, and characters that change the direction or are not seen. */
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

export const showText = (text: string): string =>
  text.replace(unseen, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

export const shorten = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max)} … (${text.length - max} more characters)`;
