import { source as axe } from 'axe-core'
import type { Page } from 'playwright-core'

/** What axe finds on a page, as `rule: element`. */
export async function faultsOn(page: Page): Promise<unknown> {
  await page.evaluate(axe)
  return page.evaluate(
    `axe.run({ resultTypes: ['violations'], preload: false }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`,
  )
}
