import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { launchChromium } from '../../support/chromium'
import { gallery, startGallery } from '../../support/page-gallery'

const folder = join(__dirname, '../../../docs/images/pages')

interface Picture {
  readonly suffix: string
  readonly language: string
  readonly width: number
  readonly dark?: boolean
  /** A browser that zooms to 200 % has half the width, and pixels of twice the size. */
  readonly zoom?: number
}

const phone: Picture = { suffix: 'phone', language: 'en', width: 360 }
const everyPage: readonly Picture[] = [phone]
const consentPages: readonly Picture[] = [
  { suffix: 'desktop', language: 'en', width: 720 },
  { suffix: 'dark', language: 'en', width: 360, dark: true },
  { suffix: 'de', language: 'de', width: 360 },
  { suffix: 'ja', language: 'ja', width: 360 },
  { suffix: 'ar', language: 'ar', width: 360 },
  { suffix: 'zoom', language: 'en', width: 320, zoom: 2 },
]
const inAllWays = new Set([
  'dangerous',
  'choice',
  'unverified-device',
  'error',
  'logout',
  'connected',
  'connected-remove',
  'device-question',
])

/** Takes pictures of every page of the suite; of the main ones in several languages, sizes and colours. */
export async function takePagePictures(): Promise<void> {
  const [browser, server] = await Promise.all([launchChromium(), startGallery()])
  try {
    mkdirSync(folder, { recursive: true })
    for (const name of Object.keys(gallery))
      for (const picture of inAllWays.has(name) ? [...everyPage, ...consentPages] : everyPage) {
        const page = await browser.newPage({
          viewport: { width: picture.width, height: 480 },
          colorScheme: picture.dark === true ? 'dark' : 'light',
          deviceScaleFactor: picture.zoom ?? 1,
        })
        await page.goto(`http://127.0.0.1:${server.port}/${name}?ui_locales=${picture.language}`)
        await page.screenshot({ path: join(folder, `${name}-${picture.suffix}.png`), fullPage: true })
        await page.close()
      }
    // The guides show these; the package has no others.
    copyFileSync(join(folder, 'dangerous-phone.png'), join(folder, '../consent-permissions.png'))
    copyFileSync(join(folder, 'connected-phone.png'), join(folder, '../connected-applications.png'))
  } finally {
    await browser.close()
    await server.stop()
  }
}
