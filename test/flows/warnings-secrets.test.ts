import { inspect } from 'node:util'
import { secretsIn, type EndpointRun, useEveryEndpoint } from '../support/flows/every-endpoint'
import { waitUntil } from '../support/wait-until'

describe('warnings secrets', () => {
  const usual = process.env['NODE_ENV']
  /** Everything that reached standard error or a listener of warnings. */
  const written: unknown[] = []
  const note = (...given: readonly unknown[]) => void written.push(...given)
  const texts = () => written.map((text) => String(text))
  const explains = (reason: string) => texts().some((text) => text.includes(`, ${reason}.`))

  let run: EndpointRun
  beforeAll(async () => {
    process.env['NODE_ENV'] = 'development'
    jest.spyOn(process, 'emitWarning').mockImplementation(note)
    jest.spyOn(console, 'error').mockImplementation(note)
    jest.spyOn(console, 'warn').mockImplementation(note)
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
      note(text)
      return true
    })
    run = await useEveryEndpoint(({ events }) => {
      events.removeAllListeners('failure')
      events.on('issued', () => {
        throw new Error('the audit log is full')
      })
    })
    await waitUntil('token_invalid is explained after a look', async () => explains('token_invalid'))
  })
  afterAll(() => {
    process.env['NODE_ENV'] = usual
    jest.restoreAllMocks()
  })

  test('a whole story explains each refusal in it but the decision of the owner', () => {
    const refusals = new Set(['refused', 'replayed', 'reused', 'throttled'])
    const reasons = run.recorded.flatMap(({ event, reason }) =>
      refusals.has(event) && reason !== 'owner_denied' ? [String(reason)] : [],
    )
    expect(new Set(reasons).size).toBeGreaterThan(20)
    expect(reasons.filter((reason) => !explains(reason))).toEqual([])
  })

  test('it gives the warnings of a failure and of a broken listener, too', () => {
    const everything = texts().join()
    expect(everything).toContain("Listen for 'failure' at oauth.events, or at events of the guard")
    expect(everything).toContain("A listener of the event 'issued' failed")
  })

  test('and no warning contains a credential, a secret, a verifier or a state', () => {
    expect(run.secrets.size).toBeGreaterThan(25)
    const everything = [
      ...texts(),
      inspect(written, { depth: Infinity, showHidden: true, maxStringLength: null }),
    ]
    expect(secretsIn(everything.join('\n'), run.secrets)).toEqual([])
  })
})
