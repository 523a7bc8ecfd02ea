import { longestValues } from '../../lib/protocol/parameters'
import { extent } from '../support/extent'
import { formOf } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { outcomeOf } from '../support/flows/outcome'
import { clients, type Kind } from './parameters/requests'
import { type Row, table } from './parameters/table'

interface Case extends Row {
  /** Its place in the table. */
  readonly row: number
}

type Spell = (name: string, value: string) => string
const pair = (name: string, value: string): string => formOf({ [name]: value })

const asOmitted: readonly [string, Spell][] = [
  ['nothing of it', () => ''],
  ['name=', (name) => `${name}=`],
  ['name', (name) => name],
  ['name[]', (name, value) => pair(`${name}[]`, value)],
  ['name[x]', (name, value) => pair(`${name}[x]`, value)],
]
const asSame: readonly [string, Spell][] = [
  ['the same twice', (name, value) => `${pair(name, value)}&${pair(name, value)}`],
  ['an empty one behind it', (name, value) => `${pair(name, value)}&${name}=`],
]
const asAnother: readonly [string, Spell][] = [
  ['another one behind it', (name, value) => `${pair(name, value)}&${pair(name, 'x')}`],
]
const asUndecodable: readonly [string, Spell][] = [
  ['a broken percent triplet', (name, value) => `${pair(name, value)}%3`],
  ['bytes that are no UTF-8', (name, value) => `${pair(name, value)}%C3%28`],
]
const asOther: readonly [string, Spell][] = [
  ['as long as it may be', (name) => pair(name, 'a'.repeat(longestValues.get(name) ?? 60_000))],
  ['letters beyond ASCII', (name) => pair(name, 'Grüße 世界')],
  ['__proto__', (name) => pair(name, '__proto__')],
  ['constructor', (name) => pair(name, 'constructor')],
]
const asGood: readonly [string, Spell][] = [
  ['name[] beside it', (name, value) => `${pair(name, value)}&${pair(`${name}[]`, 'x')}`],
  ['name[x] beside it', (name, value) => `${pair(`${name}[x]`, 'x')}&${pair(name, value)}`],
  ['a __proto__ beside it', (name, value) => `__proto__=x&${pair(name, value)}&__proto__[${name}]=x`],
  ['a constructor beside it', (name, value) => `constructor=x&${pair(name, value)}&toString=x&toString=y`],
]

/** What comes of a good request in which one parameter is spelt in another way. */
async function outcomesOf(
  { options, mount, fields, send }: Kind,
  name: string,
  spell: Spell,
): Promise<string[]> {
  const set = setStage(options ?? { clients }, mount && { mount })
  const good = await fields(set)
  const spelt = spell(name, good[name] ?? '')
  return (await send(set, `${formOf({ ...good, [name]: undefined })}&${spelt}`)).map(outcomeOf)
}

/** Which of the spellings a parameter takes: all of them, and by default a third, of which its neighbours take the rest. */
function taken<T>(spellings: readonly T[], row: number): readonly T[] {
  const share = Math.min(extent(3, 1), spellings.length)
  return spellings.filter((_, index) => index % share === row % share)
}

/** The spellings that get something else, and what. */
async function surprises(
  { row, kind, name }: Case,
  spellings: readonly [string, Spell][],
  expected: string,
): Promise<readonly string[]> {
  const found: string[] = []
  for (const [spelling, spell] of taken(spellings, row))
    for (const outcome of await outcomesOf(kind, name, spell))
      if (outcome !== expected) found.push(`${spelling}: ${outcome}`)
  return found
}

const titled = table.map((each, row) => [`${each.request} request, ${each.name}:`, { ...each, row }] as const)

describe.each(titled)('%s', (_, one) => {
  const { kind, omitted, faulty, mayRepeat, other } = one
  test('[EPT-2] without a value counts as omitted, as does one whose name has brackets', async () => {
    expect(await surprises(one, asOmitted, omitted)).toEqual([])
  })

  test('[EPT-4] twice, or not decodable, refuses the request if it is read [input-1]', async () => {
    expect(await surprises(one, asUndecodable, faulty)).toEqual([])
    // One of several values counts like the only one.
    expect(await surprises(one, asSame, mayRepeat ? kind.good : faulty)).toEqual([])
    expect(await surprises(one, asAnother, mayRepeat ? other : faulty)).toEqual([])
  })

  test('of another value, however odd, is answered as any wrong one', async () => {
    expect(await surprises(one, asOther, other)).toEqual([])
  })

  test('[EPT-3] is the same beside unknown parameters', async () => {
    expect(await surprises(one, asGood, kind.good)).toEqual([])
  })
})
