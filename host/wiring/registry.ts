/** How rooms are registered: a factory per token, made once, when it is first needed. */
import { type DependencyContainer, type InjectionToken, instanceCachingFactory } from 'tsyringe';

export function once<T>(
  container: DependencyContainer,
  token: InjectionToken<T>,
  make: (from: DependencyContainer) => T,
): void {
  container.register(token, { useFactory: instanceCachingFactory(make) });
}
