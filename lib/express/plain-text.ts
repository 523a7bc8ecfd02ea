const longest = 256
// Line breaks and escape sequences forge lines of a log; format characters turn the order of what is read.
const usual = /^[\x20-\x7E]*$/
const unprintable = /[\p{C}\p{Zl}\p{Zp}]/gu

/** A text from outside as a log may show it: at most 256 characters, each unprintable one replaced by U+FFFD. */
export function plainText(text: string): string {
  if (text.length <= longest && usual.test(text)) return text
  return text.slice(0, longest).replaceAll(unprintable, '\u{FFFD}')
}

/** The same of what may not be known. */
export function plainOrAbsent(text: string | undefined): string | undefined {
  return text === undefined ? undefined : plainText(text)
}
