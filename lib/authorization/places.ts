import { type ExtensionData, isEmpty } from '../protocol/extension-data'
import type { Json } from '../protocol/json'
import { formatScope, parseScope, type Scope } from '../protocol/scope'

// Lists are shorter than objects, and Redis holds millions.

type Element = Json | undefined

export interface Place<Value> {
  readonly at: number
  /** An absent value is undefined (optional), or lacks its member (omittable). */
  readonly presence: 'required' | 'optional' | 'omittable'
  write(this: void, value: Value, list: Json[]): Element
  /** Undefined for a malformed element. */
  read(this: void, element: Element, list: readonly Json[], id: string | undefined): Value | undefined
}

export const place = <Value>(
  at: number,
  write: Place<Value>['write'],
  read: Place<Value>['read'],
): Place<Value> => ({ at, presence: 'required', write, read })

export const optional = <Value>(required: Place<Value>): Place<Value | undefined> => ({
  ...required,
  presence: 'optional',
})

export const omittable = <Value>(required: Place<Value>): Place<Value | undefined> => ({
  ...required,
  presence: 'omittable',
})

export const asIs = <Value extends Json>(value: Value): Value => value

export const readText = (element: Element): string | undefined =>
  typeof element === 'string' && element !== '' ? element : undefined

export const text = (at: number): Place<string> => place(at, asIs, readText)

/** An empty text stands for the usual value. */
export const textOr = (usual: string, at: number): Place<string> =>
  place(
    at,
    (value) => (value === usual ? '' : value),
    (element) => (element === '' ? usual : readText(element)),
  )

export const texts = (at: number): Place<readonly string[]> =>
  place<readonly string[]>(at, asIs, (element) => {
    const read = isList(element) ? element.flatMap((one) => readText(one) ?? []) : []
    return isList(element) && read.length === element.length ? read : undefined
  })

export const integer = (at: number): Place<number> =>
  place<number>(at, asIs, (element) =>
    typeof element === 'number' && Number.isSafeInteger(element) ? element : undefined,
  )

export const boolean = (at: number): Place<boolean> =>
  place<boolean>(at, asIs, (element) => (typeof element === 'boolean' ? element : undefined))

export const scope = (at: number): Place<Scope> =>
  place<Scope>(at, formatScope, (element) =>
    element === '' ? [] : typeof element === 'string' ? parseScope(element) : undefined,
  )

/** Any JSON, in a list: null differs from absence. */
export const json = (at: number): Place<Json> =>
  place<Json>(
    at,
    (value) => [value],
    (element) => (isList(element) ? element[0] : undefined),
  )

/** Absent if it is empty. */
export const extensionData = (at: number): Place<ExtensionData> =>
  place<ExtensionData>(
    at,
    (value) => (isEmpty(value) ? undefined : value),
    (element = null) =>
      element === null ? {} : typeof element === 'object' && !isList(element) ? element : undefined,
  )

type Members<Value> = { readonly [Name in keyof Value]-?: Place<Value[Name]> }

export interface Group<Value> {
  readonly first: number
  write(this: void, value: Value, list: Json[]): void
  /** @throws Error for a malformed element. */
  read(this: void, list: readonly Json[], id?: string): Value
}

export function group<Value extends object>(members: Members<Value>): Group<Value> {
  const [first = 0] = Object.values<Place<unknown>>(members).map(({ at }) => at)
  // Copied at once: V8 would copy a growing object at each third member.
  const blank: Partial<Value> = {}
  for (const name in members) if (members[name].presence !== 'omittable') blank[name] = undefined
  return {
    first,
    write(value, list) {
      for (const name in members) put(value[name], members[name], list)
    },
    read(list, id) {
      const value = { ...blank }
      fill(value, list, id)
      return value
    },
  }

  function fill(value: Partial<Value>, list: readonly Json[], id?: string): asserts value is Value {
    for (const name in members) {
      const { at, presence, read } = members[name]
      const element = list[at]
      if (presence !== 'required' && (element ?? null) === null) continue
      const member = read(element, list, id)
      value[name] = member === undefined ? unreadable(at) : member
    }
  }
}

/** Its first member shows whether it is there. */
export const inline = <Value>({ first, write, read }: Group<Value>): Place<Value> =>
  place(
    first,
    (value, list) => {
      write(value, list)
      return undefined
    },
    (_element, list, id) => read(list, id),
  )

export const nested = <Value>(at: number, { write, read }: Group<Value>): Place<Value> =>
  place(
    at,
    (value) => {
      const inner: Json[] = []
      write(value, inner)
      return inner
    },
    (element) => (isList(element) ? read(element) : undefined),
  )

export function recordText<Value>(value: Value, { write }: Group<Value>): string {
  const list: Json[] = []
  write(value, list)
  return JSON.stringify(list)
}

/** @throws Error for a text that `recordText` did not make. */
export function elementsOf(encoded: string): readonly Json[] {
  let value: Json
  try {
    value = JSON.parse(encoded)
  } catch (cause) {
    throw unreadableRecord('the text is not JSON', cause)
  }
  if (isList(value)) return value
  throw unreadableRecord('the text is not a list')
}

export function rows<Value>(at: number, row: Group<Value>): Place<readonly Value[]> {
  const { write, read } = nested(at, row)
  return place(
    at,
    (values, list) => values.map((value) => write(value, list) ?? null),
    (element, list, id) =>
      isList(element) ? element.map((one) => read(one, list, id) ?? unreadable(at)) : undefined,
  )
}

function put<Value>(value: Value, { at, write }: Place<Value>, list: Json[]): void {
  const element = value === undefined ? undefined : write(value, list)
  if (element === undefined) return
  while (list.length < at) list.push(null)
  list[at] = element
}

export const isList = (value: Element): value is readonly Json[] => Array.isArray(value)

export function unreadable(at: number): never {
  throw unreadableRecord(`element ${at} is malformed`)
}

export const unreadableRecord = (why: string, cause?: unknown): Error =>
  new Error(`A stored record is not readable by this version: ${why}.`, { cause })
