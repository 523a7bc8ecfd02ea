import { placeOf } from './place'

const sources = new Map([
  [
    'lib/one.ts',
    "export function send() {\n  return 'yes'\n}\n\nclass Form {\n  send() {\n    return 'yes'\n  }\n}\n",
  ],
  ['lib/other.ts', 'const send = () => {\n  return 1 +\n    2\n}\n'],
])
const textAt = (declaration: string, text: string) => {
  const place = placeOf(sources, declaration, text)
  return place && sources.get(place.file)?.slice(place.start, place.end)
}

describe('a mutation finds its place', () => {
  it('by the declaration, in whichever file that stands', () => {
    expect(placeOf(sources, 'send', "return 'yes'")?.file).toBe('lib/one.ts')
    const member = placeOf(sources, 'Form.send', "return 'yes'")
    expect(member?.start).toBe(sources.get('lib/one.ts')?.lastIndexOf('return'))
  })

  it('however the formatter breaks the lines', () => {
    expect(textAt('send', 'return 1 + 2')).toBe('return 1 +\n    2')
  })

  it('only where the text stands exactly once', () => {
    expect(textAt('send', 'return')).toBeUndefined()
    expect(textAt('send', 'return 3')).toBeUndefined()
    expect(textAt('receive', "return 'yes'")).toBeUndefined()
  })
})
