/** What the device and Chromium may see of the environment: where things are and how to show windows, nothing else. */
const PASSED =
  /^(?:PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|DISPLAY|XAUTHORITY|WAYLAND_DISPLAY|XDG_(?:RUNTIME_DIR|SESSION_TYPE|DATA_DIRS|CONFIG_DIRS)|DBUS_SESSION_BUS_ADDRESS|FONTCONFIG_[A-Z]+)$/;

export function browserEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => PASSED.test(name)));
}
