import * as fc from 'fast-check'
import { parseMacCredentials } from '../../../lib/token-types/mac'

const mac = `${'A'.repeat(43)}=`
const good = { id: 'at_x', ts: '1336363200', nonce: 'dj83hs9s', mac }
const written = (attributes: object) =>
  Object.entries(attributes)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')

describe('parseMacCredentials', () => {
  it('reads the form with a timestamp', () => {
    expect(parseMacCredentials(written({ ...good, ext: 'a, b=c' }))).toEqual({
      ...good,
      time: { since: 'epoch', seconds: 1336363200 },
      ext: 'a, b=c',
    })
  })

  it('reads the form of RFC 6749 7.1, with the age in the nonce', () => {
    const text = `id="h480djs93hd8",\t nonce="274312:dj83hs9s" ,mac="kDZvddkndxvhGRXZhvuDjEWhGeE="`
    expect(parseMacCredentials(text)).toEqual({
      id: 'h480djs93hd8',
      time: { since: 'issue', seconds: 274312 },
      ts: undefined,
      nonce: '274312:dj83hs9s',
      ext: '',
      mac: 'kDZvddkndxvhGRXZhvuDjEWhGeE=',
    })
  })

  it('takes attributes in any order and their names in any case (RFC 9110 11.2)', () => {
    const text = `MAC="${mac}",Nonce="0:x",ID="at_x"`
    expect(parseMacCredentials(text)).toMatchObject({ id: 'at_x', time: { seconds: 0 }, mac })
  })

  it.each([
    ['nothing', ''],
    ['a bare token', 'at_x'],
    ['no id', written({ ...good, id: '' })],
    ['no nonce', `id="at_x", ts="1", mac="${mac}"`],
    ['no mac', 'id="at_x", ts="1", nonce="x"'],
    ['neither timestamp nor age', `id="at_x", nonce="x", mac="${mac}"`],
    ['an attribute twice', `${written(good)}, nonce="dj83hs9s"`],
    ['an attribute twice in another case', `${written(good)}, NONCE="dj83hs9s"`],
    ['an unknown attribute', `${written(good)}, realm="x"`],
    ['__proto__', `${written(good)}, __proto__="x"`],
    ['a body hash', `${written(good)}, bodyhash="k9kbtCIy0CkI3/FEfpS/oIDjk6k="`],
    ['an attribute without quotes', `id=at_x, ts="1", nonce="x", mac="${mac}"`],
    ['an open quote', `${written(good)}, ext="x`],
    ['an escaped quote', `${written(good)}, ext="a\\"b"`],
    ['a letter beyond ASCII', `${written(good)}, ext="é"`],
    ['a tab inside a value', `${written(good)}, ext="a\tb"`],
    ['a comma at the end', `${written(good)}, `],
    ['a comma at the beginning', `, ${written(good)}`],
    ['no comma', written(good).replaceAll(',', '')],
    ['space around the equals sign', written(good).replaceAll('=', ' = ')],
    ['a timestamp of 0', written({ ...good, ts: '0' })],
    ['a negative timestamp', written({ ...good, ts: '-1' })],
    ['a timestamp with a zero before it', written({ ...good, ts: '01336363200' })],
    ['a timestamp with a fraction', written({ ...good, ts: '1336363200.5' })],
    ['an exponent', written({ ...good, ts: '1e9' })],
    ['a huge timestamp', written({ ...good, ts: '9'.repeat(13) })],
    ['an empty timestamp', written({ ...good, ts: '' })],
    ['an age without what is random', `id="at_x", nonce="7:", mac="${mac}"`],
    ['an age with a sign', `id="at_x", nonce="+7:x", mac="${mac}"`],
    ['a long nonce', written({ ...good, nonce: 'x'.repeat(129) })],
    ['a nonce with a space', written({ ...good, nonce: 'a b' })],
    ['a long id', written({ ...good, id: 'x'.repeat(129) })],
    ['a MAC that is no base64', written({ ...good, mac: `${'-'.repeat(43)}=` })],
    ['a MAC of another length', written({ ...good, mac: 'AAAA' })],
    ['more than 2048 characters', written({ ...good, ext: 'x'.repeat(2048) })],
  ])('refuses %s', (_what, text) => {
    expect(parseMacCredentials(text)).toBeUndefined()
  })

  it('reads any text without a throw', () => {
    const piece = fc.oneof(fc.string(), fc.constantFrom('id="', 'mac="', '"', ', ', '=', '\t', mac))
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        expect(() => parseMacCredentials(pieces.join(''))).not.toThrow()
      }),
    )
  })
})
