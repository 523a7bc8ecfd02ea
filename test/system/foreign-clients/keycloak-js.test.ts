import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { launchChromium } from '../../support/chromium'
import { installPackage } from '../../support/npm-packages'
import { type SinglePageOptions, startSinglePage } from '../../support/openid-connect/single-page'

let packages: string
let browser: Browser

// Playwright names what it waited for.
const patience = 60_000

const scriptOf = (issuer: string) => `
import Keycloak from '/library.js'
const client = new Keycloak({ clientId: 'wall', oidcProvider: '${issuer}' })
const show = (known) => (document.getElementById('known').textContent = JSON.stringify(known))
window.logIn = () => client.login({ scope: 'photos:read' })
window.logOut = () => client.logout({ redirectUri: location.origin + '/bye' })
window.photos = async () => {
  const answer = await fetch('${issuer}/photos', { headers: { Authorization: 'Bearer ' + client.token } })
  return answer.json()
}
try {
  const isLoggedIn = await client.init({ checkLoginIframe: false })
  show({ isLoggedIn, subject: client.subject })
} catch (error) {
  show({ error: String(error) })
}`

beforeAll(async () => {
  packages = installPackage('keycloak-js@26.2.4')
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
})

/** Logs in, and returns what the app knows then. */
async function logIn(options: SinglePageOptions) {
  const library = join(packages, 'node_modules/keycloak-js/lib/keycloak.js')
  const stage = await startSinglePage(library, scriptOf, options)
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  context.setDefaultTimeout(patience)
  const page = await context.newPage()
  const blocked: string[] = []
  page.on('console', (message) => void (/CORS/.test(message.text()) && blocked.push(message.text())))
  const known = async (): Promise<unknown> => {
    await page.waitForFunction(`document.querySelector('#known')?.textContent`)
    return JSON.parse(String(await page.textContent('#known')))
  }
  const close = async () => {
    await context.close()
    await stage.close()
  }
  try {
    await page.goto(stage.app)
    expect(await known()).toEqual({ isLoggedIn: false })
    await page.evaluate('void logIn()')
    await page.getByRole('textbox').fill('alice')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Allow' }).click()
    return { stage, page, blocked, known: await known(), close }
  } catch (error) {
    await close()
    throw error
  }
}

const works = { issuesJwts: true, grantTypes: ['authorization_code'] } satisfies SinglePageOptions
const undecoded = 'Error: Unable to decode token, payload not found.'

test.each<[string, SinglePageOptions, string]>([
  ['of another origin, which must not send cookies', works, 'TypeError: Failed to fetch'],
  ['with an opaque access token', { ...works, isOfServer: true, issuesJwts: false }, undecoded],
  ['with a refresh token', { isOfServer: true, issuesJwts: true }, undecoded],
])('keycloak-js %s does not log in', async (_, options, error) => {
  const { blocked, known, close } = await logIn(options)
  await close()
  expect(known).toEqual({ error })
  expect(blocked).toHaveLength(options.isOfServer ? 0 : 1)
})

test.each<[string, SinglePageOptions]>([
  ['of the origin of the server', { isOfServer: true }],
  ['of another origin that the host lets send cookies to the token endpoint', { allowsCookies: true }],
])('keycloak-js %s logs in and out with a JWT and no refresh token', async (_, options) => {
  const { stage, page, known, close } = await logIn({ ...works, ...options })
  expect(known).toEqual({ isLoggedIn: true, subject: 'alice' })
  expect(await page.evaluate('photos()')).toEqual({ of: 'alice' })
  await page.evaluate('void logOut()')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForURL(`${stage.app}/bye**`)
  expect(stage.failures).toEqual([])
  await close()
})
