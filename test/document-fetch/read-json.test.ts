import { readJson } from '../../lib/document-fetch/read-json'

const nested = (levels: number) => Buffer.from(`${'['.repeat(levels)}${']'.repeat(levels)}`)

test.each([
  ['an object', Buffer.from(' {"a":[1,"\u00fc"]}\n'), { a: [1, '\u00fc'] }],
  ['a text', Buffer.from('"a"'), 'a'],
  ['null', Buffer.from('null'), null],
  ['equal names: the last counts', Buffer.from('{"a":1,"a":2}'), { a: 2 }],
])('JSON is read: %s', (_, bytes, value) => {
  expect(readJson(bytes)).toEqual(value)
})

test.each([
  ['nothing', Buffer.alloc(0)],
  ['a byte order mark', Buffer.from('\uFEFF{}')],
  ['UTF-16', Buffer.from('{}', 'utf16le')],
  ['Latin-1', Buffer.from('"\u00fc"', 'latin1')],
  ['an overlong form', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
  ['half of a surrogate pair', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ['a page', Buffer.from('<!doctype html>')],
  ['two values', Buffer.from('{}{}')],
  ['a comment', Buffer.from('{}//')],
  ['an end that is missing', Buffer.from('{"a":[')],
  ['33 levels', nested(33)],
  ['a hundred thousand levels', nested(100_000)],
])('other bytes are malformed: %s', (_, bytes) => {
  expect(() => readJson(bytes)).toThrow(expect.objectContaining({ reason: 'malformed' }))
})

test('32 levels are read', () => {
  expect(JSON.stringify(readJson(nested(32)))).toBe(nested(32).toString())
})

test('members named __proto__ are left out, at every level', () => {
  const json = readJson(
    Buffer.from('{"__proto__":{"secret":1},"a":[{"__proto__":null,"\\u005f_proto__":1}]}'),
  )
  expect(JSON.stringify(json)).toBe('{"a":[{}]}')
  expect(Object.assign({}, json)).not.toHaveProperty('secret')
})
