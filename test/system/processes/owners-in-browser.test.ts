import { randomUUID } from 'node:crypto'
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core'
import { launchChromium } from '../../support/chromium'
import { extent } from '../../support/extent'
import { type OwnerStage, startOwnerStage } from '../../support/owners/stage'
import { type Answer, Tab } from '../../support/owners/tab'

let browser: Browser
let stage: OwnerStage
beforeAll(async () => {
  stage = await startOwnerStage()
  browser = await launchChromium({ keepsPages: true })
})
afterAll(async () => {
  await browser.close()
  await stage.stop()
})

let context: BrowserContext
let state: string
let [ada, grace] = ['', '']
beforeEach(async () => {
  state = randomUUID()
  ada = `ada-${state}`
  grace = `grace-${state}`
  context = await browser.newContext()
})
afterEach(() => context.close())

const openTab = () => Tab.in(context, stage)

/** A tab with the consent page before an owner who has just signed in. */
async function askedTab(owner = ada, request = state): Promise<Tab> {
  const tab = await openTab()
  await tab.open(request)
  await tab.signIn(owner)
  return tab
}

/** What tokens are good for if this owner has given this answer. */
const grantOf = (owner: string, { workspace, prints = false }: Answer) => ({
  subject: owner,
  scope: ['photos:read', ...(prints ? ['photos:print'] : [])],
  workspace: `${owner}/${workspace}`,
})

/** What came to the client for a request, and what its tokens are good for. */
const outcomeOf = async (request = state) => ({
  answers: stage.client.answers(request),
  granted: await stage.granted(request),
})
const oneCode = (owner: string, answer: Answer) => ({ answers: ['code'], granted: [grantOf(owner, answer)] })
const nothing = { answers: [], granted: [] }
const refusal = { answers: ['access_denied'], granted: [] }

const engine: Answer = { workspace: 'Engine', prints: true }
const loom: Answer = { workspace: 'Loom' }

// By default one row of each: other tests show how the rest differs.
const answersAgain: [string, Answer][] = [
  ['the same', engine],
  ['another', loom],
]
const changes = [
  ['cancels after an approval', 'Allow', 'Cancel'],
  ['allows after a denial', 'Cancel', 'Allow'],
] as const
const presses: [string, BrowserContextOptions][] = [
  ['with a mouse', {}],
  ['with a finger', { hasTouch: true, isMobile: true }],
]
const ends: [string, () => Promise<void>][] = [
  [
    'signs out in another tab',
    async () => void (await (await openTab()).page.goto(`${stage.issuer}/logout`)),
  ],
  ['loses the cookies', () => context.clearCookies()],
]

describe('Behind nginx, with the question from one process and the answer to the other, an owner', () => {
  test('who reloads the page grants what the page then says', async () => {
    const tab = await askedTab()
    await tab.fillIn(engine)
    await tab.page.reload()
    await tab.allow(loom)
    expect(await outcomeOf()).toEqual(oneCode(ada, loom))
    expect(await stage.countOf(ada)).toBe(1)
  })

  test.each(extent(answersAgain.slice(-1), answersAgain))(
    'who goes back and allows %s learns that it is done, and the first answer stays',
    async (_, second) => {
      const tab = await askedTab()
      await tab.allow(engine)
      await tab.back()
      await tab.allow(second)
      expect(await tab.trouble()).toEqual({
        says: expect.stringContaining('You allowed access already'),
        wayBack: 'At home',
      })
      expect(await outcomeOf()).toEqual(oneCode(ada, engine))
      expect(await stage.countOf(ada)).toBe(1)
    },
  )

  test.each(changes.slice(0, extent(1, changes.length)))(
    'who goes back and %s gets a page with the way back, and the first answer stays',
    async (...row) => {
      const [, first, second] = row
      const tab = await askedTab()
      await tab.fillIn(loom)
      await tab.press(first)
      await tab.back()
      await tab.press(second)
      expect(await tab.trouble()).toEqual(lost('This page is too old, or was answered already.'))
      expect(await outcomeOf()).toEqual(first === 'Allow' ? oneCode(ada, loom) : refusal)
    },
  )

  test('with one question in two tabs grants in each what that tab says', async () => {
    const [one, other] = [await openTab(), await openTab()]
    for (const tab of [one, other]) await tab.open(state)
    for (const tab of [one, other]) await tab.signIn(ada)
    await one.fillIn(engine)
    await other.fillIn(loom)
    await one.press('Allow')
    await other.press('Allow')
    expect(await outcomeOf()).toEqual({
      answers: ['code', 'code'],
      granted: [grantOf(ada, engine), grantOf(ada, loom)],
    })
    expect(await stage.countOf(ada)).toBe(2)
  })

  test('who is somebody else by "Not you?" grants what is theirs, and the page of the first owner nothing', async () => {
    const [tab, other] = [await askedTab(), await openTab()]
    await other.open(state)
    await other.page.getByRole('link', { name: 'Not you?' }).click()
    await other.signIn(grace)
    await other.fillIn(loom)
    await tab.allow(engine)
    expect(await tab.trouble()).toEqual(
      lost('This question was for another account than the one that is signed in now.'),
    )
    await other.press('Allow')
    expect(await outcomeOf()).toEqual(oneCode(grace, loom))
    expect([await stage.countOf(ada), await stage.countOf(grace)]).toEqual([0, 1])
  })

  test('who removes the app on the page of connected applications ends its access on both processes', async () => {
    const tab = await askedTab()
    await tab.allow(engine)
    expect(await stage.statuses(state)).toEqual([200, 200])
    await tab.askToRemove('Photo Book')
    await tab.press('Remove')
    await tab.page.getByText('The access of Photo Book is removed.').waitFor()
    expect(await stage.statuses(state)).toEqual([401, 401])
    expect(await stage.countOf(ada)).toBe(0)
  })

  test('sees all this without one warning of a process', () => {
    for (const host of stage.hosts) expect(host.output()).toMatch(/^port \d+\n$/)
  })
})

// By default, flows by HTTP show these rules: decision and connected-applications.
extent(
  () => {},
  () =>
    describe('Behind nginx, in the long run, an owner', () => {
      test.each(presses)('who presses Allow twice %s gives the client one code', async (_, device) => {
        await context.close()
        context = await browser.newContext(device)
        const tab = await askedTab()
        await tab.allowTwice(engine, device.hasTouch === true)
        expect(await outcomeOf()).toEqual(oneCode(ada, engine))
        expect(await stage.countOf(ada)).toBe(1)
      })

      test('with two questions in two tabs answers each of them for itself', async () => {
        const second = `${state}-2`
        const [one, other] = [await askedTab(), await openTab()]
        await other.open(second)
        await one.fillIn(engine)
        await other.fillIn(loom)
        await other.press('Cancel')
        await one.press('Allow')
        expect(await outcomeOf()).toEqual(oneCode(ada, engine))
        expect(await outcomeOf(second)).toEqual(refusal)
        expect(await stage.countOf(ada)).toBe(1)
      })

      test('whose browser has another owner by now grants nothing, and the other owner is asked anew', async () => {
        const [tab, other] = [await askedTab(), await openTab()]
        await other.page.goto(`${stage.issuer}/login`)
        await other.signIn(grace)
        await tab.allow(engine)
        expect(await tab.trouble()).toEqual(
          lost('This question was for another account than the one that is signed in now.'),
        )
        expect(await outcomeOf()).toEqual(nothing)
        await tab.open(state)
        await tab.allow(loom)
        expect(await outcomeOf()).toEqual(oneCode(grace, loom))
        expect([await stage.countOf(ada), await stage.countOf(grace)]).toEqual([0, 1])
      })

      test.each(ends)('who %s before the answer grants nothing, and may begin again', async (_, end) => {
        const tab = await askedTab()
        await end()
        await tab.allow(engine)
        expect(await tab.trouble()).toEqual(lost('You are not signed in any more.'))
        expect(await outcomeOf()).toEqual(nothing)
        await tab.open(state)
        await tab.signIn(ada)
        await tab.allow(loom)
        expect(await outcomeOf()).toEqual(oneCode(ada, loom))
        expect(await stage.countOf(ada)).toBe(1)
      })

      test('whose session ends, and who signs in again before the answer, has answered', async () => {
        const [tab, other] = [await askedTab(), await openTab()]
        await other.page.goto(`${stage.issuer}/logout`)
        await other.page.goto(`${stage.issuer}/login`)
        await other.signIn(ada)
        await tab.allow(loom)
        expect(await outcomeOf()).toEqual(oneCode(ada, loom))
      })

      test('removes nothing of an owner who was there before', async () => {
        const [tab, other] = [await askedTab(), await openTab()]
        await tab.allow(engine)
        await tab.askToRemove('Photo Book')
        await other.page.goto(`${stage.issuer}/login`)
        await other.signIn(grace)
        await tab.press('Remove')
        await tab.page.getByText(grace).waitFor()
        expect(await stage.statuses(state)).toEqual([200, 200])
        expect(await stage.countOf(ada)).toBe(1)
      })
    }),
)()

/** An error page with this explanation, which leads back to the client. */
function lost(happened: string) {
  const advice = `${happened}[^]*Go back to the app and start again there[^]*Back to Photo Book`
  return { says: expect.stringMatching(new RegExp(advice)), wayBack: 'At home' }
}
