import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../../support/chromium'
import { installPackage } from '../../support/npm-packages'
import { type SinglePageStage, startSinglePage } from '../../support/openid-connect/single-page'

let browser: Browser
let stage: SinglePageStage

// Playwright names what it waited for.
const patience = { timeout: 60_000 }

// Everything else as MSAL has it: the answer in the fragment, and offline_access in the scope of every request.
const scriptOf = (issuer: string) => `
const client = new msal.PublicClientApplication({
  auth: {
    clientId: 'wall',
    authority: '${issuer}',
    knownAuthorities: ['${new URL(issuer).host}'],
    redirectUri: location.origin + '/',
    postLogoutRedirectUri: location.origin + '/bye',
  },
  system: { protocolMode: 'OIDC' },
})
const scopes = ['profile', 'photos:read']
const show = (known) => (document.getElementById('known').textContent = JSON.stringify(known))
await client.initialize()
const photos = async ({ accessToken }) => {
  const answer = await fetch('${issuer}/photos', { headers: { Authorization: 'Bearer ' + accessToken } })
  return answer.json()
}
window.logIn = () => client.loginRedirect({ scopes })
window.refresh = async () => {
  const [account] = client.getAllAccounts()
  const result = await client.acquireTokenSilent({ scopes, account, forceRefresh: true })
  return { accessToken: result.accessToken, scopes: result.scopes, photos: await photos(result) }
}
window.logOut = () => {
  const [account] = client.getAllAccounts()
  return client.logoutRedirect({ account, idTokenHint: account.idToken })
}
try {
  const result = await client.handleRedirectPromise()
  show(result === null ? { isLoggedIn: false } : { ...result, photos: await photos(result) })
} catch (error) {
  show({ error: String(error) })
}`

beforeAll(async () => {
  const packages = installPackage('@azure/msal-browser@5.30.0')
  const library = join(packages, 'node_modules/@azure/msal-browser/lib/msal-browser.min.js')
  ;[browser, stage] = await Promise.all([launchChromium(), startSinglePage(library, scriptOf)])
})
afterAll(async () => {
  await browser?.close()
  await stage?.close()
})

/** What the app shows once it has settled. */
async function known(page: Page): Promise<Readonly<Record<string, unknown>>> {
  await page.waitForFunction(`document.querySelector('#known').textContent !== ''`, undefined, patience)
  return JSON.parse(String(await page.textContent('#known')))
}

test('MSAL in a browser logs in with its defaults, refreshes with the scope of the login, and logs out', async () => {
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  context.setDefaultTimeout(patience.timeout)
  const page = await context.newPage()
  const answers: string[] = []
  page.on('framenavigated', () => answers.push(new URL(page.url()).hash.slice(1)))
  await page.goto(stage.app)
  expect(await known(page)).toEqual({ isLoggedIn: false })
  await page.evaluate('void logIn()')
  await page.getByRole('textbox').fill('alice')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.waitForURL(`${stage.app}/**`)
  const first = await known(page)
  expect(first).toMatchObject({ uniqueId: 'alice', photos: { of: 'alice' } })
  expect(answers.filter((hash) => new URLSearchParams(hash).has('code'))).toHaveLength(1)

  const second: unknown = await page.evaluate('refresh()')
  expect(second).toMatchObject({ photos: { of: 'alice' }, accessToken: expect.stringMatching(/^at_/) })
  expect(second).not.toMatchObject({ accessToken: first['accessToken'] })
  const sent = stage.tokenRequests.map((form) => [form.get('grant_type'), form.get('scope')])
  const scope = 'profile photos:read openid offline_access'
  expect(sent).toEqual([
    ['authorization_code', scope],
    ['refresh_token', scope],
  ])

  await page.evaluate('void logOut()')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForURL(`${stage.app}/bye?**`)
  expect(stage.failures).toEqual([])
  await page.goto(stage.app)
  await page.evaluate('void logIn()')
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  await context.close()
})
