/** Values and keys that databases, and programs above them, like to change. */
export const oddValues: ReadonlyMap<string, string> = new Map([
  ['NUL', String.raw`{"a":"\u0000"}`],
  ['lone surrogates', String.raw`["\ud83d","\udc69 \udc69"]`],
  ['text that is not ASCII', '{"ﬀ e\u0301 \u00E9":"Zoë שלום 👩‍🚀 \u2028\u2029\u007F\uFEFF"}'],
  ['quotes, backslashes and placeholders', JSON.stringify(`a"b'c\\d\\"e\`f %00 \${} :id $1 ? %s {{a}}`)],
  ['white space, and a member twice', ' {"b" : 1,\n\t"a":1, "b":2}\r\n '],
  ['numbers as they were written', '[1.0,-0,1e400,12345678901234567890,0.10]'],
  ['names that objects inherit', '{"__proto__":{"a":1},"constructor":null}'],
  ['names that query languages read', '{"$set":{"a.b":1},"":[{"$gt":""}]}'],
  ['a text', '"007"'],
  ['an empty text', '""'],
  ['null', 'null'],
  ['zero', '0'],
  ['64 KiB', JSON.stringify('"é'.repeat(16_383))],
  ['1 MiB', JSON.stringify('x'.repeat(2 ** 20 - 2))],
])

// With `authorization:` and an id of 22 characters before it, as long as a key may be.
const longest = 'x'.repeat(1000 - 36)

export const oddKeys: readonly string[] = [
  '%',
  '_',
  ' a  b ',
  `'"\``,
  '{tag}',
  '}{',
  '\\',
  String.raw`\x00%00&#0;\u0000`,
  '*?[a-z]^',
  ':a::',
  '$a.b',
  '/../#?a=b;--',
  '__proto__',
  'constructor',
  'aB',
  longest,
]
