import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import express from 'express'
import { createAuthorizationServer } from '../../../lib/index'
import { launchChromium } from '../../support/chromium'

const folder = join(__dirname, '../../../docs/images')

/** Takes the pictures of the consent page that the README shows, light and dark. */
async function takeScreenshots(): Promise<void> {
  const app = express()
  const server = app.listen(0)
  await once(server, 'listening')
  const { port } = Object(server.address())
  const issuer = `http://127.0.0.1:${port}`
  const oauth = createAuthorizationServer({
    issuer,
    scopes: { 'photos:read': 'See your photos', 'photos:write': 'Add photos to your albums' },
    clients: [
      {
        client_id: 'album',
        client_type: 'public',
        client_name: 'Photo Album',
        redirect_uris: ['http://127.0.0.1:4000/callback'],
        scope: 'photos:read photos:write',
      },
    ],
    resourceOwner: () => ({ subject: 'ada', name: 'Ada' }),
  })
  app.use(oauth.router())
  const request = new URLSearchParams({
    response_type: 'code',
    client_id: 'album',
    scope: 'photos:read photos:write',
    code_challenge: 'c'.repeat(43),
    code_challenge_method: 'S256',
  })
  const browser = await launchChromium()
  try {
    mkdirSync(folder, { recursive: true })
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ viewport: { width: 560, height: 480 }, colorScheme })
      await page.goto(`${issuer}/authorize?${request.toString()}`)
      await page.screenshot({ path: join(folder, `consent-${colorScheme}.png`), fullPage: true })
    }
  } finally {
    await browser.close()
    await oauth.close()
    server.close()
  }
}

void takeScreenshots()
