import type { IncomingHttpHeaders } from 'node:http'
import { maximumAgeOf, readJson } from '../../../lib/clients/document-fetch/request-document'

const date = 'Tue, 15 Nov 1994 08:12:31 GMT'
const anHourLater = 'Tue, 15 Nov 1994 09:12:31 GMT'

const cases: readonly (readonly [title: string, headers: IncomingHttpHeaders, seconds: number])[] = [
  ['no header', {}, 60],
  ['an empty header', { 'cache-control': '' }, 60],
  ['max-age', { 'cache-control': 'public, max-age=600' }, 600],
  ['max-age in capitals and in quotes', { 'cache-control': 'Max-Age="600"' }, 600],
  ['less than a minute', { 'cache-control': 'max-age=5' }, 60],
  ['more than a day', { 'cache-control': 'max-age=31536000' }, 86_400],
  ['a number beyond all bounds', { 'cache-control': `max-age=${'9'.repeat(400)}` }, 86_400],
  ['s-maxage before max-age', { 'cache-control': 'max-age=600, s-maxage=900' }, 900],
  ['max-age before Expires', { 'cache-control': 'max-age=600', expires: anHourLater, date }, 600],
  ['Expires', { expires: anHourLater, date }, 3600],
  ['Expires in the past', { expires: date, date: anHourLater }, 60],
  ['Expires that cannot be read', { expires: '0', date }, 60],
  ['Expires without Date', { expires: anHourLater }, 60],
  ['Age is subtracted', { 'cache-control': 'max-age=600', age: '200' }, 400],
  ['Age is subtracted before the most', { 'cache-control': 'max-age=100000', age: '50000' }, 50_000],
  ['Age beyond all bounds', { 'cache-control': 'max-age=600', age: '9'.repeat(400) }, 60],
  ['both beyond all bounds', { 'cache-control': `max-age=${'9'.repeat(400)}`, age: '9'.repeat(400) }, 60],
  ['Age that cannot be read', { 'cache-control': 'max-age=600', age: '-9' }, 600],
  ['no-store beside max-age', { 'cache-control': 'max-age=600, no-store' }, 60],
  ['no-cache beside max-age', { 'cache-control': 'No-Cache, max-age=600' }, 60],
  ['max-age twice', { 'cache-control': 'max-age=600, max-age=300' }, 300],
  ['max-age without seconds', { 'cache-control': 'max-age' }, 60],
  ['max-age that is no number', { 'cache-control': 'max-age=1e5' }, 60],
  ['negative max-age', { 'cache-control': 'max-age=-600' }, 60],
  ['private, because the cache is shared', { 'cache-control': 'max-age=600, Private' }, 60],
  ['private for a header alone', { 'cache-control': 'private="set-cookie", max-age=600' }, 60],
  ['Vary: *', { 'cache-control': 'max-age=600', vary: '*' }, 60],
  ['Vary with * among others', { 'cache-control': 'max-age=600', vary: 'Accept, *' }, 60],
  ['Vary without *', { 'cache-control': 'max-age=600', vary: 'Accept-Encoding, Origin' }, 600],
  ['a directive within quotes', { 'cache-control': 'x="x, max-age=9000", max-age=600' }, 600],
  ['a directive with a longer name', { 'cache-control': 'x-max-age=9000, max-age=600' }, 600],
]

test.each(cases)('a document is kept by its headers: %s', (_, headers, seconds) => {
  expect(maximumAgeOf(headers)).toBe(seconds)
})

test('a long header costs no more than its length', () => {
  const header = `${'a'.repeat(4000)}="${','.repeat(4000)}`
  expect(maximumAgeOf({ 'cache-control': header })).toBe(60)
})

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
