import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const folder = process.env['SCREENSHOTS']

/** The `deviceScaleFactor` of pages: pictures are sharp, and where nobody looks, a quarter of the pixels is painted. */
export const pixelRatio = folder === undefined ? 1 : 2

/** Keeps a picture of the whole page in the folder that SCREENSHOTS names. Takes none when SCREENSHOTS is not set. */
export async function keepScreenshot(page: Page, title: string): Promise<void> {
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${title}.png`.replaceAll(' ', '-')), fullPage: true })
}
