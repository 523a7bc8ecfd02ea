import { setImmediate } from 'node:timers/promises'
import type { Row, Rows } from '../../../docs/examples/store'

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !(value instanceof Date) && !Array.isArray(value)

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

/** In the order of MongoDB: what is missing, null, numbers, texts, dates. */
function compare(one: unknown, other: unknown): number {
  const rank = (value: unknown) =>
    [value === undefined, value === null, typeof value === 'number', typeof value === 'string', true].indexOf(
      true,
    )
  if (rank(one) !== rank(other)) return rank(one) - rank(other)
  if (typeof one === 'string' && typeof other === 'string') return one < other ? -1 : Number(one > other)
  return one === undefined || one === null ? 0 : Number(one) - Number(other)
}

function sum(values: readonly unknown[]): unknown {
  const total = values.reduce((all: number, each) => all + Number(each), 0)
  return values.some((each) => each instanceof Date) ? new Date(total) : total
}

/** A document in the collection of a database, whose clock it reads. */
interface Place {
  readonly document: Fields
  readonly now: Date
}

const operators: Readonly<Record<string, (words: readonly unknown[]) => unknown>> = {
  $gt: ([one, other]) => compare(one, other) > 0,
  $lt: ([one, other]) => compare(one, other) < 0,
  $eq: ([one, other]) => compare(one, other) === 0,
  $cond: ([condition, yes, no]) => (condition === true ? yes : no),
  $add: sum,
  $subtract: ([one, other]) => Number(one) - Number(other),
  $max: (values) => values.toSorted(compare).at(-1),
}

function evaluate(expression: unknown, place: Place): unknown {
  if (Array.isArray(expression)) return expression.map((each) => evaluate(each, place))
  if (typeof expression === 'string' && expression.startsWith('$')) return named(expression, place)
  if (!isFields(expression)) return expression
  const [name = '', words] = Object.entries(expression)[0] ?? []
  if (name === '$literal') return words
  if (!name.startsWith('$')) return fieldsOf(expression, place)
  const operator = operators[name]
  if (operator === undefined) throw new Error(`Unrecognized expression '${name}'`)
  return operator(list(evaluate(words, place)))
}

function named(path: string, { document, now }: Place): unknown {
  if (path === '$$NOW') return now
  if (path === '$$ROOT') return document
  if (path.startsWith('$$')) throw new Error(`Use of undefined variable: ${path.slice(2)}`)
  return document[path.slice(1)]
}

const fieldsOf = (fields: Fields, place: Place): Fields =>
  Object.fromEntries(
    Object.entries(fields)
      .map(([name, value]) => [name, evaluate(value, place)] as const)
      .filter(([, value]) => value !== undefined),
  )

function step(document: Fields, stage: object, now: Date): Fields {
  const [[name, words] = []] = Object.entries(stage)
  const result = evaluate(words, { document, now })
  if (!isFields(result)) throw new Error(`${name} must be an object`)
  if (name === '$replaceWith') return result
  if (name === '$set') return { ...document, ...result }
  throw new Error(`Unrecognized pipeline stage name: '${name}'`)
}

function matches(document: Fields, filter: object, now: Date): boolean {
  return Object.entries(filter).every(([name, wanted]: [string, unknown]) => {
    if (name === '$expr') return evaluate(wanted, { document, now }) === true
    const value = document[name]
    if (!isFields(wanted)) return compare(value, wanted) === 0
    if ('$in' in wanted) return list(wanted['$in']).some((each) => compare(value, each) === 0)
    if ('$regex' in wanted) return new RegExp(String(wanted['$regex'])).test(String(value))
    throw new Error(`unknown operator: ${Object.keys(wanted).join()}`)
  })
}

const isRow = (document: object): document is Row =>
  '_id' in document &&
  typeof document['_id'] === 'string' &&
  'end' in document &&
  document.end instanceof Date

/** A collection of MongoDB in this process, as far as the example needs it. */
export class MongoStandIn implements Rows {
  private readonly documents = new Map<unknown, Fields>()

  constructor(private readonly clock: () => number) {}

  async findOne(filter: object): Promise<Row | null> {
    await setImmediate()
    return this.matching(filter).map(copyOf)[0] ?? null
  }

  async findOneAndUpdate(
    filter: object,
    steps: object[],
    { upsert }: { upsert: boolean },
  ): Promise<Row | null> {
    if (upsert && '$expr' in filter)
      throw new Error('$expr is not allowed in the query predicate for an upsert')
    await setImmediate()
    const wasThere = this.matching(filter).length > 0
    if (!wasThere && !upsert) return null
    // Another call may come between: MongoDB looks again before it updates, but fails before it inserts.
    await setImmediate()
    const [found] = this.matching(filter)
    if (!wasThere && found !== undefined)
      throw Object.assign(new Error('E11000 duplicate key'), { code: 11_000 })
    if (found === undefined && !upsert) return null
    return this.change(steps, found ?? { ...filter })
  }

  find(filter: object): { toArray(): Promise<Row[]> } {
    return {
      toArray: async () => {
        await setImmediate()
        return this.matching(filter).map(copyOf)
      },
    }
  }

  private change(steps: readonly object[], document: Fields): Row {
    const now = new Date(this.clock())
    const changed = steps.reduce((last: Fields, stage) => step(last, stage, now), document)
    if (changed['_id'] !== document['_id']) throw new Error("The _id field can't be changed")
    this.documents.set(changed['_id'], changed)
    return copyOf(changed)
  }

  private matching(filter: object): readonly Fields[] {
    const now = new Date(this.clock())
    const id: unknown = Reflect.get(filter, '_id')
    const one = this.documents.get(id)
    const all = typeof id !== 'string' ? this.documents.values() : one === undefined ? [] : [one]
    return [...all].filter((document) => matches(document, filter, now))
  }
}

function copyOf(document: Fields): Row {
  const row = { ...document }
  if (!isRow(row)) throw new Error('The example stores rows alone.')
  return row
}
