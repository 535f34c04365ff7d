"""The one lock under which the package changes anything that is global to the process."""

import threading

WALKING = threading.RLock()
