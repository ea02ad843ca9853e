/** Observations that a caller may ask for the changes of. */
import type { Observation } from '../../../../sdk/devices/remote-browser-contract.ts';
import type { Tab } from './tab.ts';

/** Observations that can be asked for differences from. */
const KEPT = 4;

export function remember(tab: Tab, observation: Observation): void {
  tab.remembered.set(observation.generation, observation);
  if (tab.remembered.size > KEPT) {
    const oldest = tab.remembered.keys().next().value;
    if (oldest !== undefined) tab.remembered.delete(oldest);
  }
}
