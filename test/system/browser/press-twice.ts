import { setTimeout } from 'node:timers/promises'
import type { Page } from 'playwright-core'

// Milliseconds of a press, and between two: Chromium itself makes one of two that come without any time between.
const pause = 40

/** Presses a button twice, as a hurried hand does. */
export async function pressTwice(page: Page, name: string, isTouched: boolean): Promise<void> {
  const button = page.getByRole('button', { name })
  await button.scrollIntoViewIfNeeded()
  const box = await button.boundingBox()
  if (box === null) throw new Error(`There is no button ${name}.`)
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
  if (!isTouched) return page.mouse.dblclick(x, y, { delay: pause })
  await page.touchscreen.tap(x, y)
  await setTimeout(pause)
  await page.touchscreen.tap(x, y)
}
