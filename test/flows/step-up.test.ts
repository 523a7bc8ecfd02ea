import { job, photosApi } from '../support/flows/resources'
import { guardNames, stepUpStage } from '../support/flows/step-up-stage'
import { stepUp } from '../../lib/index'

type Stage = Awaited<ReturnType<typeof stepUpStage>>

const gold = 'urn:example:gold'
const silver = 'urn:example:silver'
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

async function stage(...options: Parameters<typeof stepUpStage>): Promise<Stage> {
  const set = await stepUpStage(...options)
  stops.push(set.stop)
  return set
}

test('a login of five minutes in the future counts, because clocks differ, and a later one has no age', async () => {
  const { verdictOf, tokens, now, clock } = await stage()
  const { access_token } = await tokens({ authTime: now() + 300, acr: gold })
  expect(await verdictOf(access_token, { maxAge: 5 })).toBe('200')
  clock.advance(-1)
  expect(await verdictOf(access_token, { maxAge: 5 })).toBe(
    '401 insufficient_user_authentication max_age="5"',
  )
  expect(await verdictOf(access_token, { acr: gold })).toBe('200')
})

test('every guard shows the login of the token, and none for a client that acts for itself', async () => {
  const { answersOf, tokens, flow, now } = await stage()
  const how = { authTime: now() - 60, acr: silver }
  const { access_token } = await tokens(how)
  for (const { body } of await answersOf(access_token, {})) expect(body.login).toEqual(how)
  const byItself = { grant_type: 'client_credentials', scope: 'photos:read', resource: photosApi }
  const { body } = await flow.request(job, byItself)
  for (const answer of await answersOf(body.access_token, {})) expect(answer.body).not.toHaveProperty('login')
})

test('the event of a refusal says what the login lacks', async () => {
  const { answersOf, tokens, failures, now } = await stage()
  const { access_token } = await tokens({ authTime: now() - 60, acr: silver })
  const { access_token: unknown } = await tokens({})
  await answersOf(access_token, { maxAge: 59 })
  await answersOf(access_token, { acr: gold })
  await answersOf(unknown, { maxAge: 59 })
  const reasons = ['login_too_old', 'login_of_another_class', 'login_unknown']
  for (const name of ['other process', 'JWT', 'introspection'] as const)
    expect(failures[name].map(({ reason }) => reason)).toEqual(reasons)
  expect(failures['same process'].map(({ reason }) => reason)).toEqual(reasons.flatMap((one) => [one, one]))
  expect(failures.JWT[0]).toMatchObject({ code: 'insufficient_user_authentication', subject: 'alice' })
})

test('what every guard names in its challenges gives way to what this guard requires', async () => {
  const { guarded, tokens, now } = await stage()
  const { access_token } = await tokens({ authTime: now() - 60, acr: silver })
  const terms = { acr: gold, attributes: { ACR_Values: 'urn:example:other', hint: 'x' } }
  const answer = await guarded('JWT', 'photos:read', terms).photos(access_token)
  expect(answer.get('WWW-Authenticate')).toMatch(/, acr_values="urn:example:gold", hint="x"$/)
})

test.each([
  [{ maxAge: 0 }, 'maxAge must be whole seconds since the login, 1 to 315360000.'],
  [{ acr: [] }, "acr must be a class such as 'urn:example:mfa', or a list"],
  [{ max_age: 5 }, 'max_age is not known here. Did you mean maxAge?'],
])('no guard begins with %j', async (terms: object, mistake) => {
  const { guarded } = await stage()
  for (const name of guardNames) expect(() => guarded(name, 'photos:read', terms)).toThrow(mistake)
})

test.each([
  [{}, 'acrValues is missing'],
  [{ acrValues: ['a', 'a'] }, 'acrValues must be a list of different classes'],
  [{ acrValues: ['a'], acrs: [] }, 'acrs is not known here'],
])('stepUp() refuses the options %j', (options: object, mistake) => {
  expect(() => stepUp({ ...emptyOptions(), ...options })).toThrow(mistake)
})

// As JavaScript would call it.
const emptyOptions = (): Parameters<typeof stepUp>[0] => JSON.parse('{}')
