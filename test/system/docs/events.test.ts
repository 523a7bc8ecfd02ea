import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { logEvents } from '../../../docs/examples/audit-log'
import { eventNames, isEventName } from '../../support/events'
import { application } from '../../support/flows/application'
import { photoBook } from '../../support/flows/clients'
import { useEveryEndpoint, type EndpointRun } from '../../support/flows/every-endpoint'

const read = (path: string) => readFileSync(join(__dirname, '../../..', path), 'utf8')
const page = read('docs/events.md')
const wordsIn = (cell: string) => [...cell.matchAll(/`(\w+)`/g)].map(([, word = '']) => word)

/** The rows of the table under this header, cell by cell. */
function rowsUnder(header: RegExp): readonly (readonly string[])[] {
  const [, rows = ''] =
    new RegExp(`^\\| ${header.source}.*\\n\\| -.*\\n((?:\\|.*\\n)+)`, 'm').exec(page) ?? []
  return rows
    .trim()
    .split('\n')
    .map((row) => row.split('|').slice(1, -1))
}

let run: EndpointRun
beforeAll(async () => {
  run = await useEveryEndpoint()
})

test('the page of events names every event in the code, and no other', () => {
  const named = rowsUnder(/event/).flatMap(([event = '']) => wordsIn(event))
  expect(named.toSorted()).toEqual(eventNames.toSorted())
})

test('the page of events names every member that an event has, and no other', () => {
  const common = rowsUnder(/member +\| in every event/).flatMap(([member = '']) => wordsIn(member))
  const further = rowsUnder(/member +\| in +\|/)
  for (const { event, ...members } of run.recorded) {
    const own = further.flatMap(([member = '', where = '']) =>
      wordsIn(where).includes(event) ? wordsIn(member) : [],
    )
    expect({ event, members: Object.keys(members).toSorted() }).toEqual({
      event,
      members: [...common, ...own].toSorted(),
    })
  }
  expect(further.flatMap(([, where = '']) => wordsIn(where)).every(isEventName)).toBe(true)
})

test('the page of events names every reason of what went well and of a sign of theft, and no other', () => {
  const named = rowsUnder(/event/).flatMap(([event = '', , reasons = '']) =>
    reasons.includes('errors.md') || reasons.includes('cause')
      ? []
      : wordsIn(reasons).map((reason) => `${wordsIn(event).join()} ${reason}`),
  )
  const others = new Set(['refused', 'throttled', 'failure'])
  const inStory = run.recorded.flatMap(({ event, reason }) =>
    others.has(event) || reason === undefined ? [] : [`${event} ${reason}`],
  )
  expect([...new Set(inStory)].toSorted()).toEqual(named.toSorted())
})

test('the page of errors explains every other reason', () => {
  const explained = new Set(
    [...read('docs/errors.md').matchAll(/^\| `([a-z0-9_]+)`/gm)].map(([, word]) => word),
  )
  const refused = run.recorded.filter(({ event }) => ['refused', 'throttled', 'failure'].includes(event))
  expect(refused.length).toBeGreaterThan(15)
  for (const { reason } of refused) expect(explained).toContain(reason)
})

test('the logger on the page is the file that the tests run', () => {
  expect(page).toContain(`\`\`\`ts\n${read('docs/examples/audit-log.ts')}\`\`\``)
})

const failing = () => Promise.reject(new Error('connection refused'))

test('the logger writes a line of JSON for each event, with what broke as text', async () => {
  const lines: string[] = []
  const { oauth, flow } = application({ clients: { find: failing } })
  logEvents(oauth, pino({ base: null }, { write: (line) => void lines.push(line) }))
  const { headers } = await flow.request(photoBook, {})
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines.join())).toMatchObject({
    level: 50,
    msg: 'failure',
    reason: 'store_unavailable',
    requestId: headers['x-request-id'],
    err: { message: 'connection refused' },
  })
})
