/** The text with another letter at its end, or at another place: certainly another text of the same form. */
export function altered(text: string, place = text.length - 1): string {
  const letter = text.charAt(place) === 'A' ? 'B' : 'A'
  return text.slice(0, place) + letter + text.slice(place + 1)
}
