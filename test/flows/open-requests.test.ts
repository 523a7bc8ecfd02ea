import { bent, photoBook } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'
import { codeOf, redirectionOf } from '../support/flows/redirection'

const asked = authorizationRequest(photoBook)
const three = { openRequestLimit: { attempts: 3 } }

describeOnStores('Consent pages that nobody answers', (stage) => {
  const opened = (set: ReturnType<typeof stage>, owner = 'alice') => set.flow.ask(asked, owner)
  const fill = async (set: ReturnType<typeof stage>, count = 3) => {
    for (let page = 0; page < count; page++) expect((await opened(set)).status).toBe(200)
  }

  test('are limited: the owner is told when to come again, is not redirected, and nothing is stored', async () => {
    const set = stage(three)
    await fill(set)
    const refused = await opened(set)
    expect(errorPageOf(refused)).toBe('429 temporarily_unavailable')
    expect(refused.headers).toMatchObject({ 'retry-after': '600', 'cache-control': 'no-store' })
    expect(refused.headers).not.toHaveProperty('location')
    expect(set.store.calls.save).toBe(3)
    expect(set.failures).toMatchObject([{ endpoint: 'authorization', reason: 'too_many_open_requests' }])
  })

  test('are limited to 100 unless the host says otherwise', async () => {
    const set = stage()
    await fill(set, 100)
    expect((await opened(set)).status).toBe(429)
  })

  test('are limited when they come all at once, too [store-23]', async () => {
    const set = stage(three)
    const answers = await Promise.all(Array.from({ length: 12 }, () => opened(set)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(9)
  })

  test('of one owner cost no other one anything', async () => {
    const set = stage(three)
    await fill(set)
    expect((await opened(set, 'bob')).status).toBe(200)
  })

  test('are forgotten when they have expired, refused ones at once', async () => {
    const set = stage(three)
    await fill(set)
    for (let again = 0; again < 5; again++) expect((await opened(set)).status).toBe(429)
    set.clock.advance(601)
    await fill(set)
    expect((await opened(set)).status).toBe(429)
  })

  test('are no longer open when they were approved', async () => {
    const set = stage(three)
    await fill(set, 2)
    for (let round = 0; round < 5; round++)
      codeOf(await set.flow.decide(await opened(set), 'approve', 'alice'))
    expect((await opened(set)).status).toBe(200)
    expect((await opened(set)).status).toBe(429)
  })

  test('count once for an approval that is sent twice', async () => {
    const set = stage(three)
    await fill(set, 2)
    const page = await opened(set)
    await Promise.all(Array.from({ length: 4 }, () => set.flow.decide(page, 'approve', 'alice')))
    expect((await opened(set)).status).toBe(200)
    expect((await opened(set)).status).toBe(429)
  })

  test('stay counted when they were denied, as long as they stay in the store', async () => {
    const set = stage(three)
    for (let page = 0; page < 3; page++)
      redirectionOf(await set.flow.decide(await opened(set), 'deny', 'alice'))
    expect((await opened(set)).status).toBe(429)
  })

  test('that the store did not keep are not counted', async () => {
    const set = stage(three)
    const save = set.store.save.bind(set.store)
    set.store.save = () => Promise.reject(new Error('down'))
    for (let page = 0; page < 5; page++)
      expect(redirectionOf(await opened(set)).parameters['error']).toBe('temporarily_unavailable')
    set.store.save = save
    await fill(set)
  })

  test('are not limited where the host switches it off', async () => {
    const set = stage({ openRequestLimit: false })
    await fill(set, 101)
    expect((await opened(set)).status).toBe(200)
  })

  test('of a request that is refused are none', async () => {
    const { flow } = stage(three)
    for (let page = 0; page < 5; page++)
      redirectionOf(await flow.ask({ ...asked, scope: 'unheard-of' }, 'alice'))
    expect((await flow.ask(authorizationRequest(bent(photoBook, {})), 'alice')).status).toBe(200)
  })
})
