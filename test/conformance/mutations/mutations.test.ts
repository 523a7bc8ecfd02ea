import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { outcomeIn } from './outcome'
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

describe('the outcome of a run of Jest', () => {
  const passes = "test('[a-1] passes', () => {})"
  const fails = "test('[a-1] fails', () => { throw new Error() })"
  const unloadable = `require('./absent'); ${fails}`

  it.each([
    ['green where all pass', { 'one.test.js': passes, 'two.test.js': passes }, 'green'],
    ['red where one fails', { 'one.test.js': passes, 'two.test.js': fails }, 'red'],
    [
      'red where one fails beside a file that does not load',
      { 'one.test.js': unloadable, 'two.test.js': fails },
      'red',
    ],
    [
      'neither where a file does not load',
      { 'one.test.js': passes, 'two.test.js': unloadable },
      'these files do not load: two.test.js',
    ],
    ['neither without a test', { 'one.test.js': "test.skip('[a-1]', () => {})" }, 'no test ran'],
  ])('is %s', (_what, files, outcome) => {
    const folder = mkdtempSync(join(tmpdir(), 'outcome-'))
    try {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
      const jest = join(__dirname, '../../../node_modules/jest/bin/jest.js')
      const words = [
        '--rootDir',
        folder,
        '--config',
        '{"transform":{}}',
        '-t',
        'a-1',
        '--json',
        '--silent',
        '-i',
      ]
      const { stdout } = spawnSync(process.execPath, [jest, ...words], { cwd: folder, encoding: 'utf8' })
      expect(outcomeIn(stdout, folder)).toBe(outcome)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
