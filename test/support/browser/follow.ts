import type { Page } from 'playwright-core'

/**
 * Does what leads to another page, and waits until that page has loaded: its document, styles and pictures, behind
 * however many HTTP redirects. A click alone ends when the new document begins, or before.
 */
export async function follow(page: Page, act: () => Promise<unknown>): Promise<void> {
  await Promise.all([page.waitForEvent('framenavigated', (frame) => frame === page.mainFrame()), act()])
  await page.waitForLoadState('load')
}

/** Presses a button that leads to another page, and waits for that page. */
export function press(page: Page, name: string): Promise<void> {
  return follow(page, () => page.getByRole('button', { name }).click())
}
