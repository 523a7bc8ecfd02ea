import { type Field, kind, optional, usual } from './schema'
import {
  isBoolean,
  isList,
  isLongSecret,
  isRecord,
  isRootedPath,
  isText,
  isTexts,
  isWhole,
  tenYears,
} from './values'

export const aText = kind(isText, 'must be a text.')
export const aTextThat = (cure: string, fits = (_text: string) => true): Field<string | undefined> =>
  kind((value): value is string => isText(value) && fits(value), cure)
export const someTexts = kind(isTexts, 'must be a list of texts.')
export const yesOrNo = kind(isBoolean, 'must be true or false.')
export const aFlag = (fallback: boolean): Field<boolean> => usual(fallback, yesOrNo)

export const aWhole = (least: number, most: number, unit = 'whole seconds'): Field<number | undefined> =>
  kind(isWhole(least, most), `must be ${unit}, ${least} to ${most}.`)
export const someSeconds = (fallback: number, least = 1, most = tenYears): Field<number> =>
  usual(fallback, aWhole(least, most))
export const aNumber = (fallback: number, least: number, most: number): Field<number> =>
  usual(fallback, aWhole(least, most, 'a whole number'))

export const secretExpectation = 'must be a text of at least 32 bytes, such as one of openssl rand -base64 32'
export const aSecret = kind(isLongSecret, `${secretExpectation}.`)

export const aPath = (fallback: string): Field<string> =>
  usual(fallback, kind(isRootedPath, `must be a path such as '${fallback}'.`))

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- Nothing checks parameters and result before a call.
export function aCall<Call>(cure = 'must be a function.'): Field<Call | undefined> {
  return kind((value): value is Call & {} => typeof value === 'function', cure)
}

/** Functions that a host may leave out. */
export function someCalls<const Name extends string>(
  ...names: readonly Name[]
): Readonly<Record<Name, Field<unknown>>>
export function someCalls(...names: readonly string[]): Readonly<Record<string, Field<unknown>>> {
  return Object.fromEntries(names.map((name) => [name, optional(aCall())]))
}

export const aTable = kind(isRecord, 'must be an object.')

export const textTable = kind(
  (value): value is Readonly<Record<string, string>> =>
    isRecord(value) && Object.values(value).every((each) => typeof each === 'string'),
  'must be an object of texts.',
)

export function oneOf<const Name extends string>(...names: readonly Name[]): Field<Name | undefined> {
  const quoted = names.map((name) => `'${name}'`)
  const cure = `must be ${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}.`
  return kind((value): value is Name => names.some((name) => name === value), cure)
}

export function aListOf<Item>(
  accepts: (value: unknown) => value is Item,
  cure: string,
): Field<readonly Item[] | undefined> {
  return kind(
    (value): value is readonly Item[] => isList(value) && value.length > 0 && value.every(accepts),
    cure,
  )
}

export const anything: Field<unknown> = (given) => given

const isClock = (value: unknown): value is () => number => typeof value === 'function'

/** Milliseconds since the epoch. */
export const aClock: Field<() => number> = (given, at, name) => {
  const read = usual(Date.now, kind(isClock, 'must be a function.'))(given, at, name)
  if (read !== Date.now && isInSeconds(read()))
    at.wrong(name, 'must return milliseconds since the epoch, as Date.now does; it returns seconds.')
  return read
}

// A test clock may start anywhere, or at 0. Only today's seconds are no milliseconds: as such, they lie in January
// 1970.
const isInSeconds = (time: number): boolean => time > 1e9 && Math.abs(time - Date.now() / 1000) < tenYears
