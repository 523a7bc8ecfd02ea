import { equal, ok } from 'node:assert/strict'
import { createId, secureRandom } from '../protocol/credential'
import { markSeconds, type Store, type StoredValue } from '../store/store'
import { checkOf, contractOf, pass, rulesOf, type StoreUnderTest } from './contract'

const oddValues: ReadonlyMap<string, string> = new Map([
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

const oddKeys: readonly string[] = [
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

const random22 = () => createId(secureRandom)

const swapCase = (text: string): string =>
  text.replaceAll(/[A-Za-z]/g, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )

const valueOf = (label: string): string => oddValues.get(label) ?? JSON.stringify({ label })

// A store may refuse a create in either way.
const refused = (created: Promise<boolean>) =>
  created.then(
    (stored) => (stored ? 'stored' : 'refused'),
    () => 'refused',
  )

const upTo = (count: number) => Array.from({ length: count }, (_, number) => number)

function labelsOf() {
  const versions = new Map<string, string>()
  const versionOf = (label: string) => {
    const version = versions.get(label) ?? random22()
    versions.set(label, version)
    return version
  }
  const wrong = new Map([
    ['swapped', swapCase],
    ['cut', (right: string) => right.slice(0, -1)],
    ['padded', (right: string) => `${right} `],
    ['empty', () => ''],
  ])
  return {
    write: (store: Store, key: string, label: string, expected?: string, seconds?: string) =>
      store.write(key, valueOf(label), {
        version: versionOf(label),
        expected: expected && (wrong.get(expected)?.(versionOf('1')) ?? versionOf(expected)),
        seconds: seconds === undefined ? undefined : Number(seconds),
      }),
    labelOf: (found: StoredValue | undefined) => {
      if (found === undefined) return undefined
      const [label] = [...versions].find(([, version]) => version === found.version) ?? []
      if (label === undefined) return `the unknown version ${found.version}`
      return found.value === valueOf(label) ? label : `${label} with another value`
    },
  }
}

const actsOf =
  (odd = '') =>
  (underTest: StoreUnderTest) => {
    const { store, other = store } = underTest
    const { write, labelOf } = labelsOf()
    const [start, tag] = [`authorization:${random22()}`, random22()]
    const key = start + odd
    const atOnce = <T>(count: number, act: (number: number, by: Store) => Promise<T>) =>
      Promise.all(upTo(count).map((number) => act(number, number % 2 === 0 ? store : other)))
    const verbsOf = (by: Store) => ({
      create: (label: string, seconds?: string) => write(by, key, label, undefined, seconds),
      replace: (label: string, expected: string, seconds?: string) =>
        write(by, key, label, expected, seconds),
      tryCreate: (label: string) => refused(write(by, key, label)),
      read: async () => labelOf(await by.read(key)),
      remove: () => by.remove(key),
    })
    const [verbs, ofOther] = [verbsOf(store), verbsOf(other)]
    const peek = (label = 'none') => {
      const [known, again] = [store.peek?.(key), store.peek?.(key)]
      if (known !== undefined) equal(`peek = ${labelOf(known)}`, `peek = ${label}`)
      if (again !== undefined) ok(known === again, 'peek returned two objects for one value')
    }
    const writeAtOnce = async (expected?: string) => {
      const stored = await atOnce(50, (number, by) => write(by, key, `rival ${number}`, expected))
      equal(stored.filter(Boolean).length, 1)
      equal(await verbs.read(), `rival ${stored.indexOf(true)}`)
    }
    // A careless comparison takes them for this key.
    const near = [start, `${start}a`, start + swapCase(odd), key.slice(0, -1)]
    const neighbours = [...new Set(near)].filter((each) => each !== key)
    const add = (amount = '1', seconds = '60', by = store) =>
      by.add(key, amount === '-1' ? -1 : 1, Number(seconds))
    const clientKey = (id: string) => `client:${tag}${id}`
    const createClient = (id: string, seconds?: string) => write(store, clientKey(id), id, undefined, seconds)
    const listed = async (by = store) =>
      (await by.list('client')).flatMap((id) => (id.includes(tag) ? id.replace(tag, '') : [])).toSorted()
    const includes = async (id: string, by = store) =>
      ok((await listed(by)).includes(id), `The list lacks ${id}.`)
    return {
      ...verbs,
      async read() {
        const found = await verbs.read()
        peek(found)
        return found
      },
      peek,
      readOther: ofOther.read,
      replaceOther: ofOther.replace,
      tryCreateOther: ofOther.tryCreate,
      // Until shortly before a mark may end, if the store can be told that time passes.
      waitForMark: () => pass(underTest, underTest.advance === undefined ? 2 : markSeconds - 4),
      confirmAbsent: () => store.confirmAbsent?.(key) ?? true,
      // False for a store without `confirmAbsent`.
      confirmPresent: () => store.confirmAbsent?.(key) ?? false,
      readNamed: async (name: string) => labelOf(await store.read(name)),
      createAtOnce: () => writeAtOnce(),
      replaceAtOnce: (expected: string) => writeAtOnce(expected),
      async repeatAtOnce(label: string, expected?: string) {
        const stored = await atOnce(50, (_, by) => write(by, key, label, expected))
        equal(stored.filter(Boolean).length, 50)
      },
      async removeAtOnce(expected?: string) {
        const keys = upTo(20).map((number) => `${key}:${number}`)
        if (expected !== undefined) await Promise.all(keys.map((each) => write(store, each, expected)))
        await Promise.all(
          keys.flatMap((each, number) => {
            const acts = [() => refused(write(store, each, 'rival', expected)), () => other.remove(each)]
            return (number % 2 === 0 ? acts : acts.toReversed()).map((act) => act())
          }),
        )
        for (const each of keys) equal(await store.read(each), undefined)
      },
      async readAtOnce() {
        await atOnce(100, (number, by) => write(by, `${key}:${number}`, `${number}`))
        const found = await Promise.all(upTo(101).map((number) => store.read(`${key}:${number}`)))
        found.forEach((each, number) => equal(each?.value, number === 100 ? undefined : valueOf(`${number}`)))
      },
      async createNear() {
        for (const each of neighbours) ok(await write(store, each, each), each)
      },
      async readNear() {
        for (const each of neighbours) equal((await store.read(each))?.value, valueOf(each))
      },
      count: async (amount?: string, seconds?: string) => (await add(amount, seconds)).count,
      async add(amount?: string, seconds?: string) {
        const { count, secondsLeft } = await add(amount, seconds)
        return `${count} for ${secondsLeft}`
      },
      async addAtOnce(amount: string, least: string) {
        const added = await atOnce(50, (_, by) => add(amount, '60', by))
        const counts = added.map(({ count }) => count).toSorted((a, b) => a - b)
        equal(
          counts.join(),
          upTo(50)
            .map((index) => Number(least) + index)
            .join(),
        )
      },
      createClient,
      replaceClient: (id: string, seconds?: string) => write(store, clientKey(id), `${id}2`, id, seconds),
      removeClient: (id: string) => store.remove(clientKey(id)),
      createOf: (kind: string) => write(store, `${kind}:${tag}`, kind),
      list: () => listed(),
      includes: (id: string) => includes(id),
      async includesMany() {
        const ids = upTo(300).map(String)
        for (let first = 0; first < 300; first += 50)
          await Promise.all(ids.slice(first, first + 50).map((id) => createClient(id)))
        for (const by of [store, other]) equal((await listed(by)).join(), ids.toSorted().join())
      },
      async includesAtOnce(id: string) {
        const created = Promise.all(upTo(50).map((number) => createClient(`${number}`)))
        await atOnce(10, (_, by) => includes(id, by))
        await created
      },
    }
  }

const creating = 'write without `expected`'
const replacing = 'write with `expected`'
const anotherVersion = `${replacing} is refused where another version is stored, and changes nothing`
const absence = 'confirmAbsent, where a store has it,'
const peeking = 'peek, where a store has it,'

const rules = rulesOf(actsOf(), {
  'read resolves to undefined for a key that never was written': 'read = none; readOther = none',
  'read takes no name that objects inherit for a key':
    'readNamed __proto__ = none; readNamed constructor = none; readNamed toString = none',
  'read finds what a second store on the database wrote':
    'create 1; readOther = 1; replaceOther 2 1; read = 2',
  'read gives each of 100 keys that are read at once its own value': 'readAtOnce',
  [`${creating} creates a record`]: 'create 1 = true; read = 1',
  [`${creating} is refused where a record is, and overwrites nothing`]:
    'create 1; create 2 = false; read = 1',
  [`${creating} resolves to true when it is repeated, and changes nothing`]:
    'create 1; create 1 = true; read = 1',
  [`${creating} is refused when it is repeated after another writer moved the record on`]:
    'create 1; replace 2 1; create 1 = false; read = 2',
  [`${replacing} replaces the record that has this version`]:
    'create 1; replace 2 1 = true; read = 2; replace 3 2 = true; read = 3',
  [`${anotherVersion}: a version that never existed`]: 'create 1; replace 2 unknown = false; read = 1',
  [`${anotherVersion}: the right version in the other letter case`]:
    'create 1; replace 2 swapped = false; read = 1',
  [`${anotherVersion}: the beginning of the right version`]: 'create 1; replace 2 cut = false; read = 1',
  [`${anotherVersion}: the right version and a space`]: 'create 1; replace 2 padded = false; read = 1',
  [`${anotherVersion}: an empty version`]: 'create 1; replace 2 empty = false; read = 1',
  [`${replacing} is refused where another writer was first, and changes nothing`]:
    'create 1; replace 2 1; replace 3 1 = false; read = 2',
  [`${replacing} is refused where no record is, and creates none`]:
    'replace 2 1 = false; replace 2 empty = false; replace 1 1 = false; read = none',
  [`${replacing} resolves to true when it is repeated, and changes nothing`]:
    'create 1; replace 2 1; replace 2 1 = true; read = 2',
  [`${replacing} is refused when it is repeated after another writer moved the record on`]:
    'create 1; replace 2 1; replace 3 2; replace 2 1 = false; read = 3',
  [`${replacing} resolves to true if the record has the version that it writes`]:
    'create 1; replace 2 1; replace 2 2 = true; replace 2 unknown = true; read = 2',
  'write lets one of 50 parallel creates succeed': 'createAtOnce',
  'write lets one of 50 parallel replacements succeed': 'create 1; replaceAtOnce 1',
  'write resolves to true for each of 50 parallel copies of a create': 'repeatAtOnce 1; read = 1',
  'write resolves to true for each of 50 parallel copies of a replacement':
    'create 1; repeatAtOnce 2 1; read = 2',
  'write with `seconds` stores a record until its end, and not after':
    'create 1 3; wait 1; read = 1; wait 2.5; read = none; readOther = none',
  'write takes parts of a second, and many years':
    'create 1 400000000; read = 1; replace 2 1 2.5; read = 2; wait 3; read = none',
  'write without `seconds` stores a record that stays': 'create 1; wait 3; read = 1',
  'write ends a record by the seconds that came last: more of them':
    'create 1 2; replace 2 1 60; wait 3; read = 2',
  'write ends a record by the seconds that came last: fewer of them':
    'create 1 60; replace 2 1 2; wait 3; read = none',
  'write ends a record by the seconds that came last: none after some':
    'create 1 2; replace 2 1; wait 3; read = 2',
  'write ends a record by the seconds that came last: some after none':
    'create 1; replace 2 1 2; wait 3; read = none',
  'write stores nothing that can be read if its end is over':
    'create 1 0 = true; read = none; create 2 = true; replace 3 2 0 = true; read = none; create 4 -5 = true; read = none',
  'write cannot replace a record past its end, and may create it':
    'create 1 2; wait 3; replace 2 1 = false; replace 1 1 = false; read = none; create 2 = true; read = 2',
  'remove removes a record, whatever its version':
    'create 1; replace 2 1; remove; read = none; readOther = none',
  'remove may be repeated, and resolves where no record is': 'remove; remove; read = none',
  'remove marks a key: no create brings the record back':
    'create 1; remove; tryCreate 2 = refused; read = none',
  'remove marks a key: a late copy of the create brings nothing back':
    'create 1; remove; tryCreate 1 = refused; read = none',
  'remove marks a key where nothing was stored': 'remove; tryCreate 1 = refused; read = none',
  'remove marks a key for every store on the database':
    'create 1; remove; tryCreateOther 2 = refused; replaceOther 2 1 = false; readOther = none',
  'remove marks a key for longer than a create may be on its way':
    'create 1; remove; waitForMark; tryCreate 1 = refused; read = none',
  'remove marks a key past the end that the record had':
    'create 1 2; remove; wait 3; tryCreate 1 = refused; read = none',
  'remove, repeated, does not end the mark': 'create 1; remove; remove; tryCreate 1 = refused; read = none',
  'remove marks a key whose record is past its end':
    'create 1 2; wait 3; remove; tryCreate 1 = refused; read = none',
  [`${replacing} is refused after a removal, and brings nothing back`]:
    'create 1; remove; replace 2 1 = false; replace 1 1 = false; replace 2 empty = false; read = none',
  'a replacement in parallel with a removal leaves no record': 'removeAtOnce 1',
  'a create in parallel with a removal leaves no record': 'removeAtOnce',
  [`${absence} resolves to true where no record ever was, and creates none`]:
    'confirmAbsent = true; read = none',
  [`${absence} resolves to true after a removal, any number of times, and ends no mark`]:
    'create 1; remove; confirmAbsent = true; confirmAbsent = true; read = none; tryCreate 1 = refused',
  [`${absence} resolves to false where a record is, and changes nothing`]:
    'create 1; replace 2 1; confirmPresent = false; read = 2; replace 3 2 = true; read = 3',
  [`${peeking} returns nothing older than what was written`]:
    'peek; create 1; peek 1; read = 1; replace 2 1; peek 2; read = 2; replace 3 1 = false; peek 2',
  [`${peeking} returns nothing of what was removed`]: 'create 1; read = 1; remove; peek; read = none; peek',
  'add counts, and returns the seconds that are left': 'add = 1 for 60; count = 2; count = 3',
  'add takes back an addition, and never counts below 0':
    'count; count; count -1 = 1; count -1 = 0; count -1 = 0',
  'add to 0 has no end, and the next addition begins anew':
    'add 1 90; add -1 = 0 for 0; add -1 = 0 for 0; add = 1 for 60',
  'add ends a count the seconds of its first addition later':
    'count 1 2; wait 1; add 1 60 = 2 for 1; wait 1.1; add = 1 for 60',
  'add gives each of 50 parallel additions a count of its own, also when they are taken back':
    'addAtOnce 1 1; addAtOnce -1 0; count = 1',
  'counts and records of one key have nothing to do with each other':
    'create 1 = true; count = 1; read = 1; replace 2 1 = true; count = 2; remove; count = 3; count -1 = 2; tryCreate 1 = refused',
  'a count of a key does not keep a record from being created, or from being absent':
    'count = 1; read = none; create 1 = true; read = 1; count = 2',
  'list names the records of its kind without an end, and no others':
    'createClient a; createClient b; createClient c 60; createOf authorization; createOf clients; createOf Client; list = a b',
  'list names a record once, however often it was replaced':
    'createClient a; replaceClient a; createClient b; list = a b',
  'list names a record that had an end, and stays now': 'createClient a 60; replaceClient a; includes a',
  'list names a record that was created anew after its end':
    'createClient a 2; wait 3; createClient a; includes a',
  'list still names the others after a removal': 'createClient a; createClient b; removeClient a; includes b',
  'list names each of 300 records, for every store on the database': 'includesMany',
  'list misses no record while others are created': 'createClient a; includesAtOnce a',
})

const valueRules = [...oddValues.keys()].flatMap((name) =>
  rulesOf(
    actsOf(),
    {
      [`read finds exactly the value that was written: ${name}`]:
        'create * = true; read = *; replace 1 *; replace * 1 = true; readOther = *',
    },
    name,
  ),
)

const keyRules = oddKeys.flatMap((odd) =>
  rulesOf(
    actsOf(odd),
    {
      [`a key that contains ${JSON.stringify(odd.slice(0, 20))} has a record and a count, apart from its neighbours`]:
        'createNear; read = none; create 1 = true; read = 1; replace 2 1 = true; count = 1; readNear; remove; read = none; tryCreate 1 = refused; count = 2; readNear',
      [`list names a key that contains ${JSON.stringify(odd.slice(0, 20))} as it is`]:
        'createClient * = true; list = *',
    },
    odd,
  ),
)

export const storeRules = [...rules, ...valueRules, ...keyRules]

/** For a `Store`. No two rules use one key: one database can serve all. */
export const storeContract = contractOf(storeRules)

export const checkStore = checkOf(storeRules)
